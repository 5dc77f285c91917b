#include "rules/flight_waits.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace faultline {
namespace {

constexpr std::size_t kMostAsked = 2;      // peers of a rank that left something out
constexpr std::size_t kMostMissing = 256;  // ranks of a stall that are looked at

bool is_open(const FlightEntry& entry) {
  return entry.progress == FlightProgress::scheduled || entry.progress == FlightProgress::started;
}

bool is_collective(const FlightEntry& entry) {
  return !entry.point_to_point && entry.role != FlightRole::batch_end;
}

class Waits {
 public:
  Waits(const Flight& flight, const std::map<int, std::size_t>& dump_of_rank,
        FlightAlignment& alignment)
      : flight_(flight), dump_of_rank_(dump_of_rank), alignment_(alignment) {}

  void find() {
    for (const auto& [rank, dump] : dump_of_rank_) find_front(rank, dump);
    find_standing();
    find_origins();
    for (const FlightStall& stall : alignment_.stalls) find_omissions(stall);
    find_deadlock();
  }

 private:
  void find_front(int rank, std::size_t dump) {
    std::optional<FlightFront> front;
    for (const FlightPosition& position : flight_.dumps()[dump].positions) {
      // The first open one of a group is its oldest.
      const auto open = std::ranges::find_if(position.entries, is_open);
      if (open == position.entries.end()) continue;
      const FlightFront found{dump,
                              position.group,
                              static_cast<std::uint32_t>(open - position.entries.begin()),
                              open->record,
                              open->created_us,
                              is_collective(*open) ? std::optional(open->sequence) : std::nullopt};
      if (!front ||
          std::pair{found.record, found.created_us} < std::pair{front->record, front->created_us})
        front = found;
    }
    if (front) alignment_.fronts.emplace(rank, *front);
  }

  const FlightEntry& entry_of(const FlightFront& front) const {
    return flight_.dumps()[front.dump].position(front.group)->entries[front.entry];
  }

  static std::vector<int> inside(const FlightStall& stall) {
    std::vector<int> ranks = stall.with(FlightStanding::entered);
    std::ranges::copy(stall.with(FlightStanding::started), std::back_inserter(ranks));
    return ranks;
  }

  // The first in which everybody is, and before which nobody waits for anything else.
  void find_standing() {
    for (std::size_t i = 0; i < alignment_.stalls.size() && !alignment_.standing; ++i) {
      const FlightStall& stall = alignment_.stalls[i];
      const std::vector<int> ranks = inside(stall);
      if (ranks.empty() || ranks.size() != stall.ranks.size()) continue;
      if (std::ranges::all_of(ranks, [&](int rank) { return alignment_.stands_in(rank, stall); }))
        alignment_.standing = i;
    }
  }

  void find_origins() {
    std::set<int> waited_for;
    std::set<int> waiting;
    std::set<int> unfinished;
    for (const FlightStall& stall : alignment_.stalls) {
      const std::vector<int> missing = stall.with(FlightStanding::not_entered);
      const std::vector<int> entered = inside(stall);
      if (!missing.empty()) {
        waited_for.insert(missing.begin(), missing.end());
        waiting.insert(entered.begin(), entered.end());
      } else if (!stall.with(FlightStanding::finished).empty()) {
        unfinished.insert(entered.begin(), entered.end());
        for (const FlightStall::Rank& rank : stall.ranks)
          if (rank.stuck_later) waiting.insert(rank.rank);
      } else {
        waiting.insert(entered.begin(), entered.end());
      }
    }
    for (const FlightPeerWait& wait : alignment_.peer_waits) {
      waiting.insert(wait.rank);
      if (!wait.peer_posted && wait.peer_has_dump) waited_for.insert(wait.peer);
    }
    // Somebody stands where a rank is missing of which nothing is known: it may lead there.
    const bool leads_out = std::ranges::any_of(alignment_.stalls, [&](const FlightStall& stall) {
      return (!stall.with(FlightStanding::no_dump).empty() ||
              !stall.with(FlightStanding::unknown).empty()) &&
             std::ranges::any_of(inside(stall),
                                 [&](int rank) { return alignment_.stands_in(rank, stall); });
    });
    // A process may stop calling because its own GPU is behind.
    std::set<int> excused = waiting;
    excused.insert(unfinished.begin(), unfinished.end());
    std::ranges::set_difference(waited_for, excused, std::back_inserter(alignment_.never_entered));
    alignment_.circular = !waited_for.empty() && alignment_.never_entered.empty() &&
                          unfinished.empty() && !alignment_.standing && !leads_out;
    alignment_.unfinished.assign(unfinished.begin(), unfinished.end());
  }

  static const FlightEntry* collective(const FlightPosition& position, std::uint32_t sequence) {
    for (auto entry = position.entries.rbegin(); entry != position.entries.rend(); ++entry)
      if (is_collective(*entry) && entry->sequence == sequence) return &*entry;
    return nullptr;
  }

  static const FlightEntry* last_collective(const FlightPosition& position) {
    for (auto entry = position.entries.rbegin(); entry != position.entries.rend(); ++entry)
      if (is_collective(*entry)) return &*entry;
    return nullptr;
  }

  // Whether this peer called `later` behind the stalled operation, or not at all yet.
  bool calls_it_later(int peer, const FlightStall& stall, std::uint32_t group,
                      std::uint32_t later) const {
    const FlightDump& dump = flight_.dumps()[dump_of_rank_.at(peer)];
    const FlightPosition* here = dump.position(stall.group);
    const FlightPosition* there = dump.position(group);
    if (here == nullptr || there == nullptr) return false;
    const FlightEntry* stalled = collective(*here, stall.sequence);
    if (stalled == nullptr) return false;
    for (const FlightEntry& entry : there->entries)
      if (is_collective(entry) && entry.record < stalled->record && entry.sequence >= later)
        return false;
    return true;
  }

  void find_omissions(const FlightStall& stall) {
    std::set<int> entered;
    for (const int rank : inside(stall)) entered.insert(rank);
    std::size_t looked_at = 0;
    for (const int rank : stall.with(FlightStanding::not_entered)) {
      if (++looked_at > kMostMissing) return;
      const auto known = dump_of_rank_.find(rank);
      if (known == dump_of_rank_.end()) continue;
      for (const FlightPosition& position : flight_.dumps()[known->second].positions) {
        if (position.group == stall.group) continue;
        const FlightEntry* last = last_collective(position);
        if (last == nullptr || last->record == 0) continue;
        std::size_t asked = 0;
        bool all = true;
        for (const int peer : flight_.groups()[position.group].members) {
          if (peer == rank || !entered.contains(peer) || !dump_of_rank_.contains(peer)) continue;
          all = all && calls_it_later(peer, stall, position.group, last->sequence);
          if (++asked == kMostAsked || !all) break;
        }
        if (asked == 0 || !all) continue;
        alignment_.omissions.push_back({rank, stall.group, stall.sequence, stall.signature,
                                        position.group, last->sequence, last->signature});
        break;
      }
    }
  }

  struct Half {
    int peer = -1;
    bool sends = false;
  };

  // A Send or Recv alone, in which a rank stands.
  std::optional<Half> half_of(int rank) const {
    const auto front = alignment_.fronts.find(rank);
    if (front == alignment_.fronts.end()) return std::nullopt;
    const FlightEntry& entry = entry_of(front->second);
    if (entry.role != FlightRole::p2p) return std::nullopt;
    const auto call = peer_call(flight_.signature(entry.signature).operation);
    const std::vector<int>& members = flight_.groups()[front->second.group].members;
    if (!call || call->peer >= members.size()) return std::nullopt;
    return Half{members[call->peer], call->sends};
  }

  void find_deadlock() {
    std::set<int> seen;
    for (const auto& [first, front] : alignment_.fronts) {
      std::vector<int> path;
      int rank = first;
      while (seen.insert(rank).second) {
        const auto half = half_of(rank);
        if (!half) break;
        const auto other = half_of(half->peer);
        if (!other || (other->peer == rank && other->sends != half->sends)) break;
        path.push_back(rank);
        rank = half->peer;
      }
      const auto begin = std::ranges::find(path, rank);
      if (begin == path.end()) continue;
      alignment_.deadlock.assign(begin, path.end());
      std::ranges::sort(alignment_.deadlock);
      return;
    }
  }

  const Flight& flight_;
  const std::map<int, std::size_t>& dump_of_rank_;
  FlightAlignment& alignment_;
};

}  // namespace

std::optional<PeerCall> peer_call(std::string_view operation) {
  const std::size_t blank = operation.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  PeerCall call;
  call.sends = operation.substr(0, blank).ends_with(":send");
  if (!call.sends && !operation.substr(0, blank).ends_with(":recv")) return std::nullopt;
  const char* const end = operation.data() + operation.size();
  const auto self = std::from_chars(operation.data() + blank + 1, end, call.self);
  if (self.ec != std::errc() || end - self.ptr < 3) return std::nullopt;
  if (std::string_view(self.ptr, 2) != (call.sends ? "->" : "<-")) return std::nullopt;
  const auto peer = std::from_chars(self.ptr + 2, end, call.peer);
  if (peer.ec != std::errc()) return std::nullopt;
  return call;
}

void find_waits(const Flight& flight, const std::map<int, std::size_t>& dump_of_rank,
                FlightAlignment& alignment) {
  Waits(flight, dump_of_rank, alignment).find();
}

}  // namespace faultline
