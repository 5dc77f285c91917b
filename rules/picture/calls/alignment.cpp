#include "rules/picture/calls/alignment.h"

#include <fmt/format.h>

#include <algorithm>

#include "rules/picture/calls/axis.h"

namespace faultline {
namespace {

// Lost lines show as forks at many positions; a rank that takes another path leaves at one.
constexpr std::size_t kOrdinaryForks = 1;
// How far ranks may be apart before it looks like lost lines: ranks that wait go on enqueueing.
constexpr std::uint64_t kOrdinarySpread = 1024;
// How far a job may get after its ranks called different things: about what a GPU's queue holds.
constexpr std::uint64_t kMostCallsAfterMismatch = 1024;

// A log that repeats only a part of another log's calls is no copy of it: that part was not
// counted.
bool position_known(const Member& member) {
  return member.repeated_calls == 0 || member.repeated_calls == member.calls;
}

// Members on one branch agree, so the furthest one on each branch stands for all.
std::map<std::uint32_t, History::Place> branches_of(const Progress& progress,
                                                    const std::vector<std::size_t>& members) {
  std::map<std::uint32_t, History::Place> places;
  for (std::size_t index : members) {
    const History::Place& place = progress.members()[index].place;
    auto [at, is_new] = places.try_emplace(place.branch, place);
    if (!is_new && at->second.position < place.position) at->second = place;
  }
  return places;
}

// Sorts sequences of calls as words in a dictionary are sorted.
bool is_before(const History& history, const History::Place& a, const History::Place& b) {
  const std::uint64_t shared = history.common(a, b);
  if (shared == a.position || shared == b.position) return a.position < b.position;
  return history.call_at(a, shared) < history.call_at(b, shared);
}

// The positions at which two members called different things. In a sorted list, neighbours show
// each of them.
std::set<std::uint64_t> forks_of(const Progress& progress,
                                 const std::map<std::uint32_t, History::Place>& places) {
  const History& history = progress.history();
  std::vector<History::Place> sorted;
  sorted.reserve(places.size());
  for (const auto& [branch, place] : places) sorted.push_back(place);
  std::ranges::sort(sorted, [&](const History::Place& a, const History::Place& b) {
    return is_before(history, a, b);
  });
  std::set<std::uint64_t> forks;
  for (std::size_t i = 1; i < sorted.size() && forks.size() <= kOrdinaryForks; ++i) {
    const std::uint64_t shared = history.common(sorted[i - 1], sorted[i]);
    if (shared < std::min(sorted[i - 1].position, sorted[i].position)) forks.insert(shared);
  }
  return forks;
}

Divergence divergence_at(const Progress& progress, const std::vector<std::size_t>& members,
                         std::uint64_t position) {
  Divergence divergence{.position = position, .camps = {}, .skipped = std::nullopt};
  for (std::size_t index : members) {
    const History::Place& place = progress.members()[index].place;
    if (place.position > position)
      divergence.camps[progress.history().call_at(place, position)].push_back(index);
  }
  return divergence;
}

// Whether the op counts of some ranks jump, or begin above 0, and those of others do not.
bool op_counts_tell_of_loss(const Progress& progress, const std::vector<std::size_t>& members) {
  std::uint64_t least = UINT64_MAX;
  std::uint64_t most = 0;
  for (std::size_t index : members) {
    const Member& member = progress.members()[index];
    if (!member.op_count_moves) continue;
    const std::uint64_t skipped =
        member.skipped_op_counts + (member.from_start ? member.first_op_count.value_or(0) : 0);
    least = std::min(least, skipped);
    most = std::max(most, skipped);
  }
  return most > 0 && least != UINT64_MAX && least != most;
}

class Aligner {
 public:
  Aligner(const Progress& progress, const Communicator& communicator, std::size_t which,
          bool counts_are_whole)
      : progress_(progress), communicator_(communicator), counts_are_whole_(counts_are_whole) {
    alignment_.communicator = which;
  }

  Alignment run() {
    std::vector<std::size_t> counted;
    for (std::size_t index : communicator_.members)
      (member(index).from_start && position_known(member(index)) ? counted : others_)
          .push_back(index);
    if (others_.empty() && count(counted)) return finish();
    if (!compare_tails()) {
      // Ranks whose logs begin at their first call can still be compared with each other.
      alignment_ = {.communicator = alignment_.communicator};
      alignment_.unaligned = others_;
      if (!count(counted)) {
        alignment_.members.clear();
        alignment_.positions.clear();
        alignment_.divergence.reset();
        alignment_.unaligned = communicator_.members;
      }
    }
    return finish();
  }

 private:
  const Member& member(std::size_t index) const { return progress_.members()[index]; }

  // By counting. False if lines seem to be missing, so that counts cannot be trusted.
  bool count(const std::vector<std::size_t>& members) {
    alignment_.members = members;
    for (std::size_t index : members) alignment_.positions.push_back(member(index).place.position);
    if (members.empty()) return true;
    const auto [least, most] = std::ranges::minmax(alignment_.positions);
    const auto places = branches_of(progress_, members);
    const auto forks = forks_of(progress_, places);
    if (forks.empty() && least == most) return true;
    const bool torn = !counts_are_whole_ || forks.size() > kOrdinaryForks ||
                      most - least > kOrdinarySpread ||
                      op_counts_tell_of_loss(progress_, members) ||
                      (!forks.empty() && most - *forks.begin() > kMostCallsAfterMismatch);
    if (torn) {
      alignment_.members.clear();
      alignment_.positions.clear();
      return false;
    }
    if (!forks.empty()) alignment_.divergence = divergence_at(progress_, members, *forks.begin());
    return true;
  }

  // By the last calls of each rank. False if nothing can be compared.
  bool compare_tails() {
    std::vector<std::size_t> members;
    std::vector<Tail> tails;
    for (std::size_t index : communicator_.members) {
      const Member& m = member(index);
      if (m.recent.empty() && !m.from_start) continue;
      members.push_back(index);
      tails.push_back({.recent = &m.recent,
                       .from_start = m.from_start && position_known(m),
                       .calls = m.calls,
                       .first_op_count = m.first_op_count.value_or(0),
                       .last_op_count = m.last_op_count});
    }
    if (members.size() < 2) return false;
    auto axis = axis_by_op_count(tails);
    alignment_.basis = axis ? Basis::op_count : Basis::sequence;
    if (!axis) axis = axis_by_sequence(tails);
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (axis->positions[i]) {
        alignment_.members.push_back(members[i]);
        alignment_.positions.push_back(*axis->positions[i]);
      } else {
        alignment_.unaligned.push_back(members[i]);
      }
    }
    if (alignment_.members.size() < 2) return false;
    alignment_.loss = axis->loss;
    if (!axis->odd.empty()) take_odd(members, *axis);
    alignment_.op_counts = std::move(axis->op_counts);
    alignment_.calls = std::move(axis->calls);
    return true;
  }

  void take_odd(const std::vector<std::size_t>& members, const Axis& axis) {
    const auto first = std::ranges::min_element(axis.odd, {}, &Axis::Odd::position);
    Divergence divergence{.position = first->position, .camps = {}, .skipped = first->shifted};
    std::set<std::size_t> odd;
    for (const Axis::Odd& one : axis.odd) {
      if (one.position != first->position) continue;
      divergence.camps[one.call].push_back(members[one.tail]);
      odd.insert(members[one.tail]);
    }
    for (std::size_t i = 0; i < alignment_.members.size(); ++i)
      if (!odd.contains(alignment_.members[i]) && alignment_.positions[i] > first->position)
        divergence.camps[axis.calls[first->position]].push_back(alignment_.members[i]);
    if (divergence.camps.size() > 1) alignment_.divergence = std::move(divergence);
  }

  Alignment finish() {
    if (alignment_.members.empty()) return std::move(alignment_);
    const auto [least, most] = std::ranges::minmax(alignment_.positions);
    alignment_.slowest = least;
    alignment_.furthest = most;
    // A communicator that all ranks have left in good order is over; that the last line of a log
    // was lost means nothing then.
    bool over = std::ranges::all_of(
        alignment_.members, [&](std::size_t index) { return member(index).left_cleanly(); });
    if (least == most || over) return std::move(alignment_);
    for (std::size_t i = 0; i < alignment_.members.size(); ++i)
      if (alignment_.positions[i] == least) alignment_.behind.push_back(alignment_.members[i]);
    name_missed();
    return std::move(alignment_);
  }

  // What the ranks behind never entered: the call that other ranks made there.
  void name_missed() {
    if (alignment_.basis != Basis::counted) {
      if (alignment_.slowest < alignment_.calls.size())
        alignment_.missed = alignment_.calls[alignment_.slowest];
      return;
    }
    for (std::size_t i = 0; i < alignment_.members.size(); ++i)
      if (alignment_.positions[i] > alignment_.slowest) {
        alignment_.missed =
            progress_.history().call_at(member(alignment_.members[i]).place, alignment_.slowest);
        return;
      }
  }

  const Progress& progress_;
  const Communicator& communicator_;
  bool counts_are_whole_;
  std::vector<std::size_t> others_;  // members whose calls were not counted from the first
  Alignment alignment_;
};

}  // namespace

std::string Alignment::label(std::uint64_t position) const {
  if (basis == Basis::counted) return fmt::format("#{}", position + 1);
  return position < op_counts.size() ? fmt::format("opCount {:x}", op_counts[position])
                                     : std::string();
}

std::vector<AlignedPlace> aligned_places(const std::vector<Alignment>& alignments,
                                         std::size_t members) {
  std::vector<AlignedPlace> places(members);
  for (const Alignment& alignment : alignments)
    for (std::size_t i = 0; i < alignment.members.size(); ++i)
      places[alignment.members[i]] = {&alignment, alignment.positions[i]};
  return places;
}

Alignment align(const Progress& progress, const std::vector<Communicator>& communicators,
                std::size_t which, bool counts_are_whole) {
  return Aligner(progress, communicators[which], which, counts_are_whole).run();
}

}  // namespace faultline
