// Which rank waits for which in Sends and Recvs. The n-th Send to a peer pairs with the peer's n-th
// Recv, so the side that made more calls waits for the other.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

// A call of one rank that its peer has not answered.
struct P2pGap {
  std::size_t communicator = 0;  // index into View::communicators
  std::size_t waiting = 0;       // member that made the call
  std::size_t owing = 0;         // member that has not made its counterpart
  PeerCall called = PeerCall::send;
  std::uint64_t answered = 0;  // earlier calls that have a counterpart
  std::uint64_t calls = 0;
  // How the owing rank is known to have skipped the call, so that it is not just late.
  enum class Passed { no, elsewhere, ahead, counted, beyond } passed = Passed::no;
};

// For View::p2p_gaps(). Only of ranks whose logs are known from the start, and of communicators
// that are still in use.
std::vector<P2pGap> find_p2p_gaps(const View& view);

// Adds the workers that wait because of gaps, and the workers for which they wait. A rank that
// skipped the call is left out, because its call will never come. Returns whether there are any.
bool add_p2p_waits(const View& view, std::set<std::size_t>& waited_for,
                   std::set<std::size_t>& waiting);

// The members of a communicator whose Sends and Recvs can be compared, by rank; kNobody for the
// other ranks.
inline constexpr std::size_t kNobody = SIZE_MAX;
std::vector<std::size_t> comparable_by_rank(const View& view, std::size_t communicator);

// "Send" or "Recv"; the other half of a call.
std::string_view name_of(PeerCall call);
PeerCall counterpart(PeerCall call);

// The last call of a flow, quoted if the text of its line was kept.
Evidence line_of(const View& view, std::size_t member, PeerCall call, const Flow& flow);

}  // namespace faultline
