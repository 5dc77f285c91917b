#include "rules/picture/calls/flight_waits.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace faultline {
namespace {

constexpr std::size_t kMostAsked = 2;      // peers that are asked about a rank that skipped a call
constexpr std::size_t kMostMissing = 256;  // ranks of a stall that are examined

bool is_open(const FlightEntry& entry) {
  return entry.progress == FlightProgress::scheduled || entry.progress == FlightProgress::started;
}

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

  // Whether this peer called `later` only after the stalled operation, or has not called it.
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

  // In PyTorch before 2.0, Sends and Recvs are numbered among the collectives.
  static bool counts_both(const FlightPosition& position) {
    return std::ranges::any_of(position.entries, [](const FlightEntry& entry) {
      return entry.point_to_point && !entry.own_count;
    });
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
        if (position.group == stall.group || counts_both(position)) continue;
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

  // A Send or Recv in which a rank waits, alone or in a batch.
  struct Half {
    int peer = -1;
    bool sends = false;
    std::optional<std::size_t> number;  // among the calls of the pair, if the ring holds them all
  };

  struct Halves {
    std::vector<Half> all;
    std::map<std::pair<int, bool>, std::size_t> before;  // by peer and direction: how many ended
    bool alone = false;
  };

  Halves halves_of(int rank) const {
    const auto front = alignment_.fronts.find(rank);
    if (front == alignment_.fronts.end()) return {};
    const FlightDump& dump = flight_.dumps()[front->second.dump];
    const std::vector<FlightEntry>& entries = dump.position(front->second.group)->entries;
    const FlightEntry& first = entries[front->second.entry];
    if (!first.point_to_point) return {};
    const std::vector<int>& members = flight_.groups()[front->second.group].members;
    const bool whole = std::ranges::any_of(dump.positions, [](const FlightPosition& position) {
      return !position.entries.empty() && position.entries.front().record == 0 &&
             position.forgotten == 0;
    });
    std::map<std::pair<int, bool>, std::size_t> numbers;
    Halves halves{.alone = first.role == FlightRole::p2p};
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!entries[i].point_to_point) continue;
      const bool same = entries[i].role == FlightRole::batched &&
                        first.role == FlightRole::batched && entries[i].sequence == first.sequence;
      if (i > front->second.entry && !same) break;
      const auto call = peer_call(flight_.signature(entries[i].signature).operation);
      if (!call || call->peer >= members.size()) continue;
      const int peer = members[call->peer];
      const std::size_t number = numbers[{peer, call->sends}]++;
      if (i < front->second.entry)
        halves.before = numbers;
      else
        halves.all.push_back({peer, call->sends, whole ? std::optional(number) : std::nullopt});
    }
    return halves;
  }

  // The rank for which a rank waits in its oldest open call.
  struct Next {
    int rank = -1;
    bool by_half = false;
  };
  std::optional<Next> next_of(int rank) const {
    const Halves mine = halves_of(rank);
    for (const Half& half : mine.all) {
      if (!dump_of_rank_.contains(half.peer)) return std::nullopt;
      const Halves theirs = halves_of(half.peer);
      const bool met = std::ranges::any_of(theirs.all, [&](const Half& other) {
        return other.peer == rank && other.sends != half.sends &&
               (!other.number || !half.number || *other.number == *half.number);
      });
      const auto before = theirs.before.find({rank, !half.sends});
      // The peer's half may have ended even though this rank's batch has not.
      const bool over = half.number ? before != theirs.before.end() && before->second > *half.number
                                    : !mine.alone;
      if (!met && !over) return Next{half.peer, true};
    }
    for (const FlightStall& stall : alignment_.stalls) {
      if (!alignment_.stands_in(rank, stall)) continue;
      if (const auto missing = stall.with(FlightStanding::not_entered); !missing.empty())
        return Next{missing.front()};
      for (const int other : inside(stall))
        if (!alignment_.stands_in(other, stall)) return Next{other};
    }
    return std::nullopt;
  }

  void find_deadlock() {
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
