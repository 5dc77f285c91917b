// What the dumps of Flight Recorders tell, as a table of progress.
#pragma once

#include "rules/picture/calls/flight_alignment.h"
#include "rules/picture/calls/progress_table.h"

namespace faultline {

// Its members are ranks; their names are left to who asks.
ProgressTable table_of_recorder(const Flight& flight, const FlightAlignment& alignment);

std::string call_text(const FlightSignature& signature);  // nccl:all_reduce, and what it moves
std::string group_text(const Flight& flight, std::uint32_t group);

// Where in the program the stall's operation was called; empty: no stack tells.
std::string place_in_program(const Flight& flight, const FlightStall& stall);
std::string place_in_program(const Flight& flight, const FlightFront& front);  // in which it stands

}  // namespace faultline
