#include "rules/flight_alignment.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace faultline {
namespace {

// One rank's place in one group.
struct Place {
  int rank = -1;
  std::size_t dump = SIZE_MAX;
  const FlightPosition* position = nullptr;
};

struct Group {
  std::uint32_t index = 0;
  std::vector<Place> places;    // of the ranks that have a position
  std::int64_t local_id = -1;   // if all of them count it the same; -1: they do not
  bool point_to_point = false;  // then its counters count Sends and Recvs, too
};

bool is_open(const FlightEntry& entry) {
  return entry.progress == FlightProgress::scheduled || entry.progress == FlightProgress::started;
}

// A collective, or one of a batch of them.
bool is_collective(const FlightEntry& entry) {
  return !entry.point_to_point && entry.role != FlightRole::batch_end;
}

std::vector<Group> groups_of(const Flight& flight, const std::multimap<int, std::size_t>& latest) {
  std::vector<Group> groups(flight.groups().size());
  for (std::uint32_t i = 0; i < groups.size(); ++i) groups[i].index = i;
  for (const auto& [rank, dump] : latest) {
    if (rank < 0) continue;
    for (const FlightPosition& position : flight.dumps()[dump].positions) {
      Group& group = groups[position.group];
      if (!group.places.empty() && group.places.back().rank == rank) continue;
      group.places.push_back({rank, dump, &position});
    }
  }
  for (Group& group : groups) {
    bool same = true;
    for (const Place& place : group.places) {
      if (place.position->local_id >= 0) {
        same = same && (group.local_id < 0 || group.local_id == place.position->local_id);
        group.local_id = place.position->local_id;
      }
      for (const FlightEntry& entry : place.position->entries)
        group.point_to_point = group.point_to_point || entry.point_to_point;
    }
    if (!same) group.local_id = -1;
  }
  return groups;
}

const FlightCounters* counters_of(const FlightDump& dump, std::int64_t local_id) {
  const auto found = std::ranges::find(dump.nameless, local_id, &FlightCounters::local_id);
  return local_id < 0 || found == dump.nameless.end() ? nullptr : &*found;
}

// How a rank stands to a collective of which it has no entry.
FlightStanding standing_without_entry(const FlightDump& dump, const Place& place,
                                      const Group& group, std::uint32_t sequence) {
  const FlightPosition& position = *place.position;
  std::optional<std::int64_t> enqueued = position.last_enqueued;
  std::optional<std::int64_t> completed = position.last_completed;
  if (const FlightCounters* counters = counters_of(dump, group.local_id); counters && !enqueued) {
    // The number may mean another group here. It is this one's if the rank came as far as the
    // collective before, which its peers finished.
    if (counters->last_enqueued.value_or(-1) + 1 >= static_cast<std::int64_t>(sequence)) {
      enqueued = counters->last_enqueued;
      completed = counters->last_completed;
    }
  }
  // They count Sends and Recvs, too; then they tell nothing of collectives.
  if (group.point_to_point) enqueued = completed = std::nullopt;

  std::optional<std::uint32_t> last;
  for (const FlightEntry& entry : position.entries)
    if (is_collective(entry)) last = std::max(last.value_or(0), entry.sequence);
  // It went past it, and so it once entered it.
  if (last && *last > sequence)
    return completed && *completed < static_cast<std::int64_t>(sequence) ? FlightStanding::unknown
                                                                         : FlightStanding::finished;
  if (enqueued)
    return *enqueued < static_cast<std::int64_t>(sequence) ? FlightStanding::not_entered
           : completed && *completed >= static_cast<std::int64_t>(sequence)
               ? FlightStanding::finished
               : FlightStanding::unknown;
  if (last) return FlightStanding::not_entered;
  // The whole of the ring holds none of its collectives: the ring may have lost them.
  return FlightStanding::unknown;
}

std::uint32_t most_frequent(const std::map<std::uint32_t, std::size_t>& counts) {
  return std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; })
      ->first;
}

std::optional<FlightStall> stall_of(const Flight& flight, const Group& group,
                                    const std::map<int, std::size_t>& dump_of_rank) {
  std::optional<std::uint32_t> first;
  for (const Place& place : group.places)
    for (const FlightEntry& entry : place.position->entries)
      if (is_collective(entry) && is_open(entry) && (!first || entry.sequence < *first))
        first = entry.sequence;
  if (!first) return std::nullopt;

  FlightStall stall{.group = group.index, .sequence = *first};
  std::map<std::uint32_t, std::size_t> signatures;
  std::set<int> placed;
  for (const Place& place : group.places) {
    FlightStall::Rank& rank = stall.ranks.emplace_back();
    placed.insert(place.rank);
    rank.rank = place.rank;
    rank.dump = place.dump;
    const FlightEntry* here = nullptr;
    std::optional<std::uint32_t> next_open;
    for (const FlightEntry& entry : place.position->entries) {
      if (!is_collective(entry)) continue;
      if (entry.sequence == *first && (here == nullptr || is_open(entry))) here = &entry;
      if (is_open(entry) && !next_open) next_open = entry.sequence;
    }
    if (here != nullptr) {
      ++signatures[here->signature];
      rank.standing = here->progress == FlightProgress::started     ? FlightStanding::started
                      : here->progress == FlightProgress::scheduled ? FlightStanding::entered
                      : here->progress == FlightProgress::completed ? FlightStanding::finished
                                                                    : FlightStanding::unknown;
      if (is_open(*here) && here->created_us > 0 &&
          (stall.since_us == 0 || here->created_us < stall.since_us))
        stall.since_us = here->created_us;
    } else {
      rank.standing = standing_without_entry(flight.dumps()[place.dump], place, group, *first);
      rank.by_counters = true;
    }
    if (rank.standing == FlightStanding::finished && next_open) {
      rank.stuck_later = true;
      rank.ahead = *next_open - std::min(*next_open, *first + 1);
    }
  }
  stall.signature = most_frequent(signatures);

  // Members whose dumps do not know the group, and those that have none.
  for (const int member : flight.groups()[group.index].members) {
    if (placed.contains(member)) continue;
    FlightStall::Rank& rank = stall.ranks.emplace_back();
    rank.rank = member;
    const auto known = dump_of_rank.find(member);
    if (known == dump_of_rank.end()) continue;
    rank.dump = known->second;
    rank.by_counters = true;
    // It never made a communicator for it, if its dump names groups at all.
    const FlightDump& dump = flight.dumps()[known->second];
    const bool names_groups =
        std::ranges::any_of(dump.positions, [&](const FlightPosition& position) {
          return !flight.groups()[position.group].members.empty();
        });
    rank.standing = names_groups && !dump.about.broken_off ? FlightStanding::not_entered
                                                           : FlightStanding::unknown;
  }
  std::ranges::sort(stall.ranks, {}, &FlightStall::Rank::rank);
  return stall;
}

// What ranks must agree on in a collective, as one number for each signature.
class Comparable {
 public:
  explicit Comparable(const Flight& flight) : flight_(flight) {}

  std::uint32_t operator()(std::uint32_t signature) {
    const auto [known, is_new] = known_.try_emplace(signature, 0);
    if (!is_new) return known->second;
    const FlightSignature& said = flight_.signature(signature);
    const auto is = [&](std::string_view word) {
      return said.operation.find(word) != std::string::npos;
    };
    // Sizes of these differ by rank, as they should; dtypes are given by one side only.
    const bool split = is("all_to_all") || is("all_gather_v") || is("reduce_scatter_v");
    const bool to_or_from_one =
        (is(":scatter") || is(":gather") || is(":_broadcast") || is(":broadcast"));
    std::string text = said.operation;
    if (!split && !to_or_from_one)
      text += '\n' + said.input_sizes + '\n' + said.output_sizes + '\n' + said.input_dtypes + '\n' +
              said.output_dtypes;
    if (split) text += '\n' + said.input_dtypes + '\n' + said.output_dtypes;
    const auto fresh = static_cast<std::uint32_t>(texts_.size());
    known->second = texts_.try_emplace(std::move(text), fresh).first->second;
    return known->second;
  }

 private:
  const Flight& flight_;
  std::unordered_map<std::uint32_t, std::uint32_t> known_;
  std::unordered_map<std::string, std::uint32_t> texts_;
};

std::optional<FlightMismatch> mismatch_of(const Group& group, Comparable& comparable) {
  struct First {
    std::uint32_t what = 0;
    bool differs = false;
  };
  // Of a batch several entries have one number: the one that closes it, and they, are not compared.
  std::unordered_map<std::uint32_t, First> by_sequence;
  const auto compared = [](const FlightEntry& entry) {
    return entry.role == FlightRole::collective && !entry.point_to_point;
  };
  for (const Place& place : group.places) {
    for (const FlightEntry& entry : place.position->entries) {
      if (!compared(entry)) continue;
      const std::uint32_t what = comparable(entry.signature);
      First& first = by_sequence.try_emplace(entry.sequence, First{what}).first->second;
      first.differs = first.differs || first.what != what;
    }
  }
  std::optional<std::uint32_t> sequence;
  for (const auto& [number, first] : by_sequence)
    if (first.differs && (!sequence || number < *sequence)) sequence = number;
  if (!sequence) return std::nullopt;

  std::map<std::uint32_t, FlightMismatch::Camp> camps;
  for (const Place& place : group.places) {
    for (const FlightEntry& entry : place.position->entries) {
      if (!compared(entry) || entry.sequence != *sequence) continue;
      FlightMismatch::Camp& camp = camps[comparable(entry.signature)];
      camp.signature = entry.signature;
      camp.ranks.push_back(place.rank);
      break;
    }
  }
  FlightMismatch mismatch{.group = group.index, .sequence = *sequence};
  for (auto& [what, camp] : camps) mismatch.camps.push_back(std::move(camp));
  std::ranges::stable_sort(mismatch.camps, std::greater{},
                           [](const FlightMismatch::Camp& camp) { return camp.ranks.size(); });
  return mismatch;
}

struct PeerCall {
  bool sends = false;
  std::size_t self = 0;
  std::size_t peer = 0;
};

// "nccl:send 1->2", "nccl:recv 2<-1": ranks in the group, its own first.
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

void add_peer_waits(const Flight& flight, const Group& group,
                    const std::map<int, std::size_t>& dump_of_rank,
                    std::vector<FlightPeerWait>& waits) {
  const std::vector<int>& members = flight.groups()[group.index].members;
  // Sends and Recvs of a pair meet in order, so those that wait are counted against each other.
  std::map<std::tuple<int, int, bool>, std::vector<FlightPeerWait>> open;  // rank, peer, sends
  for (const Place& place : group.places) {
    for (std::uint32_t i = 0; i < place.position->entries.size(); ++i) {
      const FlightEntry& entry = place.position->entries[i];
      if (!entry.point_to_point || !is_open(entry)) continue;
      const auto call = peer_call(flight.signature(entry.signature).operation);
      if (!call || call->peer >= members.size()) continue;
      const int peer = members[call->peer];
      open[{place.rank, peer, call->sends}].push_back({group.index, place.rank, peer, call->sends,
                                                       false, dump_of_rank.contains(peer),
                                                       place.dump, i});
    }
  }
  for (auto& [key, mine] : open) {
    const auto& [rank, peer, sends] = key;
    const auto theirs = open.find({peer, rank, !sends});
    const std::size_t posted = theirs == open.end() ? 0 : theirs->second.size();
    FlightPeerWait wait = mine[std::min(posted, mine.size() - 1)];
    wait.peer_posted = posted >= mine.size();
    if (wait.peer_posted) wait = mine.front(), wait.peer_posted = true;
    waits.push_back(wait);
  }
}

void find_origins(FlightAlignment& alignment) {
  std::set<int> waited_for;
  std::set<int> waiting;
  std::set<int> unfinished;
  for (const FlightStall& stall : alignment.stalls) {
    const std::vector<int> missing = stall.with(FlightStanding::not_entered);
    std::vector<int> inside = stall.with(FlightStanding::entered);
    const std::vector<int> started = stall.with(FlightStanding::started);
    inside.insert(inside.end(), started.begin(), started.end());
    if (!missing.empty()) {
      waited_for.insert(missing.begin(), missing.end());
      waiting.insert(inside.begin(), inside.end());
    } else if (!stall.with(FlightStanding::finished).empty()) {
      unfinished.insert(inside.begin(), inside.end());
      for (const FlightStall::Rank& rank : stall.ranks)
        if (rank.stuck_later) waiting.insert(rank.rank);
    }
  }
  for (const FlightPeerWait& wait : alignment.peer_waits) {
    if (wait.peer_posted || !wait.peer_has_dump) continue;
    waited_for.insert(wait.peer);
    waiting.insert(wait.rank);
  }
  // A process may stop calling because its own GPU is behind.
  std::set<int> excused = waiting;
  excused.insert(unfinished.begin(), unfinished.end());
  std::ranges::set_difference(waited_for, excused, std::back_inserter(alignment.never_entered));
  alignment.circular = !waited_for.empty() && alignment.never_entered.empty() && unfinished.empty();
  alignment.unfinished.assign(unfinished.begin(), unfinished.end());
}

}  // namespace

std::vector<int> FlightStall::with(FlightStanding standing) const {
  std::vector<int> found;
  for (const Rank& rank : ranks)
    if (rank.standing == standing) found.push_back(rank.rank);
  return found;
}

FlightAlignment align(const Flight& flight) {
  const std::multimap<int, std::size_t> latest = flight.latest();
  std::map<int, std::size_t> dump_of_rank;
  for (const auto& [rank, dump] : latest)
    if (rank >= 0 && flight.dumps()[dump].about.has_entries) dump_of_rank.emplace(rank, dump);

  FlightAlignment alignment;
  Comparable comparable(flight);
  for (const Group& group : groups_of(flight, latest)) {
    if (group.places.empty()) continue;
    if (auto stall = stall_of(flight, group, dump_of_rank))
      alignment.stalls.push_back(*std::move(stall));
    if (auto mismatch = mismatch_of(group, comparable))
      alignment.mismatches.push_back(*std::move(mismatch));
    if (group.point_to_point) add_peer_waits(flight, group, dump_of_rank, alignment.peer_waits);
  }
  std::ranges::stable_sort(alignment.stalls, {}, &FlightStall::since_us);
  find_origins(alignment);
  return alignment;
}

}  // namespace faultline
