#include "http/connection_set.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace faultline {
namespace {

// Behind a proxy all senders are one peer, so one peer may have most connections, but not all.
constexpr std::size_t share_of_a_peer(std::size_t most) { return most - most / 4; }

// A sender that streams a log may be silent for a while; it is asked to end only when others find
// no room.
constexpr std::chrono::seconds kSilent{10};

// In bytes a second: less than any network has. Who sends a byte now and then to keep a connection
// is never silent.
constexpr double kLeastRate = 1024;

}  // namespace

ConnectionSet::ConnectionSet(std::size_t most)
    : most_(most), most_of_a_peer_(share_of_a_peer(most)) {}

std::size_t ConnectionSet::count_of(const std::string& peer) const {
  const auto of_peer = by_peer_.find(peer);
  return of_peer == by_peer_.end() ? 0 : of_peer->second;
}

bool ConnectionSet::has_room_for(const Connection& connection) const {
  return all_.size() < most_ && count_of(connection.peer()) < most_of_a_peer_;
}

void ConnectionSet::ask_for_room_for(const Connection& newcomer) const {
  std::shared_ptr<Connection> one = longest_silent();
  if (one == nullptr) one = slowest_in_favour_of(newcomer.peer());
  if (one != nullptr) one->ask_to_stop(StopReason::others_wait);
}

std::shared_ptr<Connection> ConnectionSet::longest_silent() const {
  const auto busiest =
      std::ranges::max_element(by_peer_, {}, [](const auto& of_peer) { return of_peer.second; });
  if (busiest == by_peer_.end()) return nullptr;
  std::shared_ptr<Connection> longest;
  for (const auto& connection : all_) {
    if (connection->peer() != busiest->first || connection->asked_to_stop()) continue;
    if (longest == nullptr || connection->last_bytes() < longest->last_bytes())
      longest = connection;
  }
  const bool is_silent = longest != nullptr && steady_now() - longest->last_bytes() >= kSilent;
  return is_silent ? longest : nullptr;
}

// A peer that has all its connections gets none of another one. Else the peers that have most
// connections give way first, so that one who follows a quiet log does so last.
std::shared_ptr<Connection> ConnectionSet::slowest_in_favour_of(const std::string& peer) const {
  const bool has_its_share = count_of(peer) >= most_of_a_peer_;
  const SteadyTime now = steady_now();
  std::shared_ptr<Connection> slowest;
  std::pair<std::size_t, double> most{};  // of its peer's connections, and of slowness
  for (const auto& connection : all_) {
    if (connection->asked_to_stop() || (has_its_share && connection->peer() != peer)) continue;
    const std::optional<double> rate = connection->rate().bytes_per_second(now);
    if (!rate || *rate >= kLeastRate) continue;
    const std::pair own{count_of(connection->peer()), -*rate};
    if (slowest != nullptr && own <= most) continue;
    slowest = connection;
    most = own;
  }
  return slowest;
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
