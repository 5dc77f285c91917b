#include "http/connection_set.h"

#include <algorithm>
#include <utility>

namespace faultline {
namespace {

// Behind a proxy all senders are one peer, so one peer may have most connections, but not all.
constexpr std::size_t share_of_a_peer(std::size_t most) { return most - most / 4; }

// A sender that streams a log may be silent for a while; it is asked to end only when others find
// no room.
constexpr std::chrono::seconds kSilent{10};

}  // namespace

ConnectionSet::ConnectionSet(std::size_t most)
    : most_(most), most_of_a_peer_(share_of_a_peer(most)) {}

bool ConnectionSet::has_room_for(const Connection& connection) const {
  if (all_.size() >= most_) return false;
  const auto of_peer = by_peer_.find(connection.peer());
  return of_peer == by_peer_.end() || of_peer->second < most_of_a_peer_;
}

void ConnectionSet::ask_for_room() const {
  const auto busiest =
      std::ranges::max_element(by_peer_, {}, [](const auto& of_peer) { return of_peer.second; });
  if (busiest == by_peer_.end()) return;
  std::shared_ptr<Connection> longest;
  for (const auto& connection : all_) {
    if (connection->peer() != busiest->first || connection->asked_to_stop()) continue;
    if (longest == nullptr || connection->last_bytes() < longest->last_bytes())
      longest = connection;
  }
  if (longest != nullptr && steady_now() - longest->last_bytes() >= kSilent)
    longest->ask_to_stop(StopReason::others_wait);
}

void ConnectionSet::add(std::shared_ptr<Connection> connection) {
  ++by_peer_[connection->peer()];
  all_.insert(std::move(connection));
}

void ConnectionSet::remove(const std::shared_ptr<Connection>& connection) {
  if (all_.erase(connection) == 0) return;
  const auto of_peer = by_peer_.find(connection->peer());
  if (--of_peer->second == 0) by_peer_.erase(of_peer);
}

}  // namespace faultline
