#include "rules/picture/calls/flight_waits.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace faultline {
namespace {

constexpr std::size_t kMostAsked = 2;      // peers that are asked about a rank that skipped a call
constexpr std::size_t kMostMissing = 256;  // ranks of a stall that are examined
// Of all stalls together: later calls and peers that are looked at. If there are more, the stalls
// that come last are judged without.
constexpr std::size_t kMostLookedAt = std::size_t{1} << 21;

bool is_open(const FlightEntry& entry) {
  return entry.progress == FlightProgress::scheduled || entry.progress == FlightProgress::started;
}

// The collectives of one process in one group.
class FlightCollectives {
 public:
  explicit FlightCollectives(const FlightPosition& position) {
    for (const FlightEntry& entry : position.entries) {
      share_their_count_ |= entry.point_to_point && !entry.own_count;
      if (!is_collective(entry)) continue;
      last_ = &entry;
      record_of_[entry.sequence] = entry.record;
      furthest_.emplace_back(entry.record, entry.sequence);
    }
    std::ranges::sort(furthest_);
    for (std::size_t i = 1; i < furthest_.size(); ++i)
      furthest_[i].second = std::max(furthest_[i].second, furthest_[i - 1].second);
  }

  // In PyTorch before 2.0, Sends and Recvs are numbered among the collectives.
  bool share_their_count() const { return share_their_count_; }
  const FlightEntry* last() const { return last_; }  // nullptr: there is none

  std::optional<std::uint32_t> record(std::uint32_t sequence) const {
    const auto known = record_of_.find(sequence);
    return known == record_of_.end() ? std::nullopt : std::optional(known->second);
  }

  // Whether it made this call or a later one before the record.
  bool came_as_far(std::uint32_t sequence, std::uint32_t record) const {
    const auto next = std::ranges::lower_bound(furthest_, std::pair{record, std::uint32_t{0}});
    return next != furthest_.begin() && std::prev(next)->second >= sequence;
  }

 private:
  bool share_their_count_ = false;
  const FlightEntry* last_ = nullptr;
  std::map<std::uint32_t, std::uint32_t> record_of_;  // by sequence: the last one's
  // Record, and the furthest sequence up to there; by record.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> furthest_;
};

class Waits {
 public:
  Waits(const Flight& flight, const std::map<int, std::size_t>& dump_of_rank,
        FlightAlignment& alignment)
      : flight_(flight), dump_of_rank_(dump_of_rank), alignment_(alignment) {}

  void find() {
    for (const auto& [rank, dump] : dump_of_rank_) find_front(rank, dump);
    find_standing();
    find_unfinished();
    for (const FlightStall& stall : alignment_.stalls) find_omissions(stall);
    find_deadlock();
  }

 private:
  void find_front(int rank, std::size_t dump) {
    std::optional<FlightFront> front;
    for (const FlightPosition& position : flight_.dumps()[dump].positions) {
      // The first open call of a group is its oldest.
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

  // The first stall that all ranks entered, and in which all wait with their oldest open call.
  void find_standing() {
    for (std::size_t i = 0; i < alignment_.stalls.size() && !alignment_.standing; ++i) {
      const FlightStall& stall = alignment_.stalls[i];
      const std::vector<int> ranks = inside(stall);
      if (ranks.empty() || ranks.size() != stall.ranks.size()) continue;
      if (std::ranges::all_of(ranks, [&](int rank) { return alignment_.stands_in(rank, stall); }))
        alignment_.standing = i;
    }
  }

  // In operations that every rank entered: the ranks that did not finish where others did. A rank
  // without a dump may have stopped inside the operation and let only some peers finish it, so
  // operations with such a rank are left out.
  void find_unfinished() {
    std::set<int> unfinished;
    for (const FlightStall& stall : alignment_.stalls)
      if (stall.with(FlightStanding::not_entered).empty() &&
          stall.with(FlightStanding::no_dump).empty() &&
          !stall.with(FlightStanding::finished).empty())
        for (const int rank : inside(stall)) unfinished.insert(rank);
    alignment_.unfinished.assign(unfinished.begin(), unfinished.end());
  }

  // Whether this peer called `later` only after the stalled operation, or has not called it.
  bool calls_it_later(int peer, const FlightStall& stall, std::uint32_t group,
                      std::uint32_t later) {
    const FlightDump& dump = flight_.dumps()[dump_of_rank_.at(peer)];
    const FlightPosition* here = dump.position(stall.group);
    const FlightPosition* there = dump.position(group);
    if (here == nullptr || there == nullptr) return false;
    const auto stalled = collectives_of(*here).record(stall.sequence);
    return stalled && !collectives_of(*there).came_as_far(later, *stalled);
  }

  FlightCollectives& collectives_of(const FlightPosition& position) {
    return collectives_.try_emplace(&position, position).first->second;
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
        if (++places_looked_at_ > kMostLookedAt) return;
        const FlightCollectives& made = collectives_of(position);
        if (position.group == stall.group || made.share_their_count()) continue;
        const FlightEntry* last = made.last();
        if (last == nullptr || last->record == 0) continue;
        std::size_t asked = 0;
        bool all = true;
        for (const int peer : flight_.groups()[position.group].members) {
          if (++places_looked_at_ > kMostLookedAt) return;
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

  using Direction = std::pair<int, bool>;  // peer, sends

  // The Sends or Recvs of one direction in which a rank waits, alone or in a batch.
  struct Waiting {
    std::size_t before = 0;  // those that ended
    std::size_t count = 0;
  };

  struct Half {
    Direction direction;
    std::size_t number = 0;  // among the calls of the pair
  };

  struct Halves {
    std::vector<Half> all;
    std::map<Direction, Waiting> by_direction;
    bool numbered = false;  // the ring holds all calls, so their numbers are those of the peer
    bool alone = false;
  };

  const Halves& halves_of(int rank) {
    const auto [known, is_new] = halves_.try_emplace(rank);
    if (is_new) known->second = read_halves(rank);
    return known->second;
  }

  Halves read_halves(int rank) const {
    const auto front = alignment_.fronts.find(rank);
    if (front == alignment_.fronts.end()) return {};
    const FlightDump& dump = flight_.dumps()[front->second.dump];
    const std::vector<FlightEntry>& entries = dump.position(front->second.group)->entries;
    const FlightEntry& first = entries[front->second.entry];
    if (!first.point_to_point) return {};
    const std::vector<int>& members = flight_.groups()[front->second.group].members;
    Halves halves{.numbered = dump.has_first_call, .alone = first.role == FlightRole::p2p};
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!entries[i].point_to_point) continue;
      const bool same = entries[i].role == FlightRole::batched &&
                        first.role == FlightRole::batched && entries[i].sequence == first.sequence;
      if (i > front->second.entry && !same) break;
      const auto call = peer_call(flight_.signature(entries[i].signature).operation);
      if (!call || call->peer >= members.size()) continue;
      const Direction direction{members[call->peer], call->sends};
      Waiting& waiting = halves.by_direction[direction];
      if (i < front->second.entry) {
        ++waiting.before;
        continue;
      }
      halves.all.push_back({direction, waiting.before + waiting.count});
      ++waiting.count;
    }
    return halves;
  }

  // The rank for which a rank waits in its oldest open call.
  struct Next {
    int rank = -1;
    bool by_half = false;
  };
  std::optional<Next> next_of(int rank) {
    const Halves& mine = halves_of(rank);
    for (const Half& half : mine.all) {
      const auto& [peer, sends] = half.direction;
      if (!dump_of_rank_.contains(peer)) return std::nullopt;
      const Halves& theirs = halves_of(peer);
      const auto other = theirs.by_direction.find({rank, !sends});
      const Waiting there = other == theirs.by_direction.end() ? Waiting{} : other->second;
      const bool comparable = mine.numbered && theirs.numbered;
      const bool met = there.count > 0 &&
                       (!comparable ||
                        (half.number >= there.before && half.number < there.before + there.count));
      // The peer's half may have ended even though this rank's batch has not.
      const bool over = mine.numbered ? there.before > half.number : !mine.alone;
      if (!met && !over) return Next{peer, true};
    }
    const auto front = alignment_.fronts.find(rank);
    if (front == alignment_.fronts.end()) return std::nullopt;
    const auto stall = stall_of_group_.find(front->second.group);
    if (stall == stall_of_group_.end() || !alignment_.stands_in(rank, *stall->second))
      return std::nullopt;
    return awaited_in(*stall->second);
  }

  std::optional<Next> awaited_in(const FlightStall& stall) {
    const auto [known, is_new] = awaited_.try_emplace(&stall);
    if (!is_new) return known->second;
    if (const auto missing = stall.with(FlightStanding::not_entered); !missing.empty()) {
      known->second = Next{missing.front()};
      return known->second;
    }
    for (const int other : inside(stall))
      if (!alignment_.stands_in(other, stall)) {
        known->second = Next{other};
        break;
      }
    return known->second;
  }

  void find_deadlock() {
    for (const FlightStall& stall : alignment_.stalls) stall_of_group_.emplace(stall.group, &stall);
    std::set<int> seen;
    for (const auto& [first, front] : alignment_.fronts) {
      std::vector<int> path;
      std::vector<bool> by_half;
      int rank = first;
      while (seen.insert(rank).second) {
        const auto next = next_of(rank);
        if (!next) break;
        path.push_back(rank);
        by_half.push_back(next->by_half);
        rank = next->rank;
      }
      const auto begin = std::ranges::find(path, rank);
      const auto at = static_cast<std::size_t>(begin - path.begin());
      if (begin == path.end()) continue;
      const auto halves = static_cast<std::size_t>(
          std::count(by_half.begin() + static_cast<std::ptrdiff_t>(at), by_half.end(), true));
      if (halves + at != path.size()) continue;  // collectives are part of the circle too
      alignment_.deadlock.assign(begin, path.end());
      std::ranges::sort(alignment_.deadlock);
      return;
    }
  }

  const Flight& flight_;
  const std::map<int, std::size_t>& dump_of_rank_;
  FlightAlignment& alignment_;
  std::unordered_map<const FlightPosition*, FlightCollectives> collectives_;
  std::size_t places_looked_at_ = 0;
  std::map<int, Halves> halves_;
  std::map<std::uint32_t, const FlightStall*> stall_of_group_;
  std::map<const FlightStall*, std::optional<Next>> awaited_;
};

}  // namespace

std::optional<FlightPeer> peer_call(std::string_view operation) {
  const std::size_t blank = operation.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  FlightPeer call;
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
