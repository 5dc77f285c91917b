// Who waits for whom in Sends and Recvs: the n-th Send to a peer pairs with the peer's n-th Recv,
// so where one side has made more calls than the other, it waits for the other's.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

// A call of one rank that another has not answered.
struct P2pGap {
  std::size_t communicator = 0;  // index into View::communicators
  std::size_t waiting = 0;       // member that made the call
  std::size_t owing = 0;         // member that has not made its counterpart
  PeerCall called = PeerCall::send;
  std::uint64_t answered = 0;  // calls before it that pair up
  std::uint64_t calls = 0;
  // How the owing rank is known to have gone on without it, so that it is no delay.
  enum class Passed { no, elsewhere, ahead, counted, beyond } passed = Passed::no;
};

// Of ranks whose logs are known from the start, in communicators that are still in use.
std::vector<P2pGap> p2p_gaps(const View& view);

// Adds the workers that gaps make wait, and those they wait for. A rank that went on without the
// call is not waited for: its call will never come.
// True if there are any.
bool add_p2p_waits(const View& view, std::set<std::size_t>& waited_for,
                   std::set<std::size_t>& waiting);

// The members of a communicator whose Sends and Recvs can be compared, by rank; others are kNobody.
inline constexpr std::size_t kNobody = SIZE_MAX;
std::vector<std::size_t> comparable_by_rank(const View& view, std::size_t communicator);

// "Send", "Recv"; and the other one.
std::string_view name_of(PeerCall call);
PeerCall counterpart(PeerCall call);

// The last call of a flow, quoted as far as the log's words were kept.
Evidence line_of(const View& view, std::size_t member, PeerCall call, const Flow& flow);

}  // namespace faultline
