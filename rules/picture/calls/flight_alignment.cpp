#include "rules/picture/calls/flight_alignment.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "rules/picture/calls/flight_circle.h"
#include "rules/picture/calls/flight_waits.h"

namespace faultline {
namespace {

bool is_open(const FlightEntry& entry) {
  return entry.progress == FlightProgress::scheduled || entry.progress == FlightProgress::started;
}

std::uint32_t most_frequent(const std::map<std::uint32_t, std::size_t>& counts) {
  return std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; })
      ->first;
}

std::optional<FlightStall> stall_of(const Flight& flight, const FlightPlaces& group,
                                    const std::map<int, std::size_t>& dump_of_rank) {
  std::optional<std::uint32_t> first;
  for (const FlightPlace& place : group.places)
    for (const FlightEntry& entry : place.position->entries)
      if (is_collective(entry) && is_open(entry) && (!first || entry.sequence < *first))
        first = entry.sequence;
  if (!first) return std::nullopt;

  FlightStall stall{.group = group.group, .sequence = *first};
  std::map<std::uint32_t, std::size_t> signatures;
  std::set<int> placed;
  for (const FlightPlace& place : group.places) {
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
      rank.standing = WithoutEntry(flight.dumps()[place.dump], place, group).standing(*first);
      rank.by_counters = true;
    }
    if (rank.standing == FlightStanding::finished && next_open) {
      rank.stuck_later = true;
      rank.ahead = *next_open - std::min(*next_open, *first + 1);
    }
  }
  stall.signature = most_frequent(signatures);

  // Members whose dumps do not know the group, and members without a dump.
  for (const int member : flight.groups()[group.group].members) {
    if (placed.contains(member)) continue;
    FlightStall::Rank& rank = stall.ranks.emplace_back();
    rank.rank = member;
    const auto known = dump_of_rank.find(member);
    if (known == dump_of_rank.end()) continue;
    rank.dump = known->second;
    rank.by_counters = true;
    rank.standing = standing_without_position(flight, member, dump_of_rank);
  }
  std::ranges::sort(stall.ranks, {}, &FlightStall::Rank::rank);
  return stall;
}

std::optional<FlightMismatch> mismatch_of(const FlightPlaces& group, FlightComparable& comparable) {
  struct First {
    std::uint32_t what = 0;
    bool differs = false;
  };
  std::unordered_map<std::uint32_t, First> by_sequence;
  for (const FlightPlace& place : group.places) {
    for (const FlightEntry& entry : place.position->entries) {
      if (!is_compared(entry)) continue;
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
  for (const FlightPlace& place : group.places) {
    for (const FlightEntry& entry : place.position->entries) {
      if (!is_compared(entry) || entry.sequence != *sequence) continue;
      FlightMismatch::Camp& camp = camps[comparable(entry.signature)];
      camp.signature = entry.signature;
      camp.ranks.push_back(place.rank);
      break;
    }
  }
  FlightMismatch mismatch{.group = group.group, .sequence = *sequence};
  for (const FlightPlace& place : group.places)
    for (const FlightEntry& entry : place.position->entries)
      if (is_compared(entry) && entry.sequence == *sequence && entry.created_us > 0 &&
          (mismatch.since_us == 0 || entry.created_us < mismatch.since_us))
        mismatch.since_us = entry.created_us;
  for (auto& [what, camp] : camps) mismatch.camps.push_back(std::move(camp));
  std::ranges::stable_sort(mismatch.camps, std::greater{},
                           [](const FlightMismatch::Camp& camp) { return camp.ranks.size(); });
  return mismatch;
}

// PyTorch before 2.0 records no types, and some dumps have no sizes.
bool alike(const FlightSignature& a, const FlightSignature& b) {
  const auto same = [](const std::string& one, const std::string& other) {
    return one == other || one.empty() || other.empty();
  };
  return same(a.input_sizes, b.input_sizes) && same(a.input_dtypes, b.input_dtypes);
}

void add_peer_waits(const Flight& flight, const FlightPlaces& group,
                    const std::map<int, std::size_t>& dump_of_rank,
                    std::vector<FlightPeerWait>& waits, std::vector<FlightPeerClash>& clashes) {
  const std::vector<int>& members = flight.groups()[group.group].members;
  // Sends and Recvs of a pair meet in order, so the waiting ones of both sides are counted against
  // each other.
  using Direction = std::tuple<int, int, bool>;  // rank, peer, sends
  std::map<Direction, std::vector<FlightPeerWait>> open;
  std::map<Direction, std::size_t> over;
  for (const FlightPlace& place : group.places) {
    for (std::uint32_t i = 0; i < place.position->entries.size(); ++i) {
      const FlightEntry& entry = place.position->entries[i];
      if (!entry.point_to_point) continue;
      const auto call = peer_call(flight.signature(entry.signature).operation);
      if (!call || call->peer >= members.size()) continue;
      const int peer = members[call->peer];
      if (!is_open(entry)) {
        ++over[{place.rank, peer, call->sends}];
        continue;
      }
      open[{place.rank, peer, call->sends}].push_back({group.group, place.rank, peer, call->sends,
                                                       false, dump_of_rank.contains(peer),
                                                       place.dump, i});
    }
  }
  const auto signature_of = [&](const FlightPeerWait& wait) {
    return flight.dumps()[wait.dump].position(group.group)->entries[wait.entry].signature;
  };
  for (auto& [key, mine] : open) {
    const auto& [rank, peer, sends] = key;
    const auto theirs = open.find({peer, rank, !sends});
    const std::size_t posted = theirs == open.end() ? 0 : theirs->second.size();
    FlightPeerWait wait = mine[std::min(posted, mine.size() - 1)];
    wait.peer_posted = posted >= mine.size();
    if (wait.peer_posted) wait = mine.front(), wait.peer_posted = true;
    waits.push_back(wait);
    // If both sides have as many waiting, or as many finished, the first Send meets the first Recv.
    if (!sends || (posted != mine.size() && over[key] != over[{peer, rank, !sends}])) continue;
    for (std::size_t i = 0; i < std::min(posted, mine.size()); ++i) {
      const std::uint32_t sent = signature_of(mine[i]);
      const std::uint32_t received = signature_of(theirs->second[i]);
      if (alike(flight.signature(sent), flight.signature(received))) continue;
      clashes.push_back({group.group, rank, peer, sent, received});
      break;
    }
  }
}

// With as many ranks on either side, neither is the odd one. Other groups of the same kind do the
// same work, so they decide.
class LikeGroups {
 public:
  LikeGroups(const Flight& flight, const std::vector<FlightPlaces>& groups,
             FlightComparable& comparable, const std::vector<FlightMismatch>& mismatches)
      : flight_(flight), groups_(groups), comparable_(comparable) {
    for (const FlightMismatch& mismatch : mismatches)
      if (const auto kind = kind_of(mismatch.group); kind && is_undecided(mismatch))
        said_[*kind][mismatch.sequence];
    for (const FlightPlaces& group : groups)
      if (const auto kind = kind_of(group.group))
        if (const auto asked = said_.find(*kind); asked != said_.end())
          for_each_call(group, [&](const FlightEntry& entry) {
            if (const auto said = asked->second.find(entry.sequence); said != asked->second.end())
              ++said->second[comparable_(entry.signature)];
          });
  }

  void decide(FlightMismatch& mismatch) const {
    const auto kind = kind_of(mismatch.group);
    if (!kind || !is_undecided(mismatch)) return;
    const Calls& said = said_.at(*kind).at(mismatch.sequence);
    const auto votes = [&](const FlightMismatch::Camp& camp) {
      const std::uint32_t call = comparable_(camp.signature);
      std::size_t of_others = said.at(call);
      for_each_call(groups_[mismatch.group], [&](const FlightEntry& entry) {
        if (entry.sequence == mismatch.sequence && comparable_(entry.signature) == call)
          --of_others;
      });
      return of_others;
    };
    const std::size_t first = votes(mismatch.camps[0]);
    const std::size_t second = votes(mismatch.camps[1]);
    if ((first == 0) == (second == 0)) return;
    if (first == 0) std::swap(mismatch.camps[0], mismatch.camps[1]);
    mismatch.told_by_like_groups = true;
  }

 private:
  using Kind = std::pair<std::string_view, std::size_t>;  // description, number of members
  using Calls = std::map<std::uint32_t, std::size_t>;     // how often each was made

  static bool is_undecided(const FlightMismatch& mismatch) {
    return mismatch.camps.size() == 2 &&
           mismatch.camps[0].ranks.size() == mismatch.camps[1].ranks.size();
  }

  std::optional<Kind> kind_of(std::uint32_t group) const {
    const FlightGroup& about = flight_.groups()[group];
    if (about.description.empty() || about.description == "undefined") return std::nullopt;
    return Kind{about.description, about.members.size()};
  }

  template <class Call>
  static void for_each_call(const FlightPlaces& group, const Call& call) {
    for (const FlightPlace& place : group.places)
      for (const FlightEntry& entry : place.position->entries)
        if (is_compared(entry)) call(entry);
  }

  const Flight& flight_;
  const std::vector<FlightPlaces>& groups_;
  FlightComparable& comparable_;
  std::map<Kind, std::map<std::uint32_t, Calls>> said_;  // by sequence
};

}  // namespace

std::vector<int> FlightStall::with(FlightStanding standing) const {
  std::vector<int> found;
  for (const Rank& rank : ranks)
    if (rank.standing == standing) found.push_back(rank.rank);
  return found;
}

bool FlightAlignment::stands_in(int rank, const FlightStall& stall) const {
  const auto front = fronts.find(rank);
  return front != fronts.end() && front->second.group == stall.group &&
         front->second.collective == stall.sequence;
}

FlightAlignment align_flight(const Flight& flight) {
  const std::multimap<int, std::size_t> latest = flight.latest();
  const std::map<int, std::size_t> dump_of_rank = dumps_with_entries(flight, latest);

  FlightAlignment alignment;
  FlightComparable comparable(flight);
  const std::vector<FlightPlaces> groups = places_in_groups(flight, latest);
  for (const FlightPlaces& group : groups) {
    if (group.places.empty()) continue;
    if (auto stall = stall_of(flight, group, dump_of_rank))
      alignment.stalls.push_back(*std::move(stall));
    if (auto mismatch = mismatch_of(group, comparable))
      alignment.mismatches.push_back(*std::move(mismatch));
    if (group.point_to_point)
      add_peer_waits(flight, group, dump_of_rank, alignment.peer_waits, alignment.clashes);
  }
  const LikeGroups like(flight, groups, comparable, alignment.mismatches);
  for (FlightMismatch& mismatch : alignment.mismatches) like.decide(mismatch);
  std::ranges::stable_sort(alignment.stalls, {}, &FlightStall::since_us);
  std::ranges::stable_sort(alignment.mismatches, {}, &FlightMismatch::since_us);
  find_waits(flight, dump_of_rank, alignment);
  find_circle(flight, dump_of_rank, alignment);
  return alignment;
}

}  // namespace faultline
