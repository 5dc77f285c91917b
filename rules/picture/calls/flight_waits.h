// Which rank waits for which, by the calls that ranks made and have not finished.
#pragma once

#include "rules/picture/calls/flight_alignment.h"

namespace faultline {

// "nccl:send 1->2", "nccl:recv 2<-1": ranks in the group, the own rank first.
struct FlightPeer {
  bool sends = false;
  std::size_t self = 0;
  std::size_t peer = 0;
};
std::optional<FlightPeer> peer_call(std::string_view operation);

// Fills in the second half of an alignment from its first: stalls, mismatches and peer waits.
void find_waits(const Flight& flight, const std::map<int, std::size_t>& dump_of_rank,
                FlightAlignment& alignment);

}  // namespace faultline
