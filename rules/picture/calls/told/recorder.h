// What Flight Recorder dumps show, as a table of progress.
#pragma once

#include "rules/picture/calls/flight_alignment.h"
#include "rules/picture/calls/progress_table.h"

namespace faultline {

// Its members are ranks; the caller names them.
ProgressTable table_of_recorder(const Flight& flight, const FlightAlignment& alignment);

std::string call_text(const FlightSignature& signature);  // nccl:all_reduce, and what it moves
std::string group_text(const Flight& flight, std::uint32_t group);

// The place in the program where the stall's operation was called; empty: no stack shows it.
std::string place_in_program(const Flight& flight, const FlightStall& stall);
// where the rank waits
std::string place_in_program(const Flight& flight, const FlightFront& front);

}  // namespace faultline
