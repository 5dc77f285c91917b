#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "rules/picture/calls/axis.h"

namespace faultline {
namespace {

// How far the op counts per call of ranks that count alike may differ: by this share, and by
// chance, which is larger where few calls were seen.
constexpr double kSamePace = 1.0 / 10;
constexpr double kByChance = 2;
constexpr double kAgrees = 9.0 / 10;       // share of a rank's calls that match the others'
constexpr double kMostAgree = 7.0 / 10;    // share of ranks that must match for a common axis
constexpr std::size_t kLeastOddCalls = 2;  // a single odd call may be a torn line
// Where more ranks differ from each other, only the groups that most ranks show may explain others.
constexpr std::size_t kMostCandidates = 64;

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

struct Pace {
  double value = 0;
  std::size_t calls = 0;
};

bool alike(const std::vector<Pace>& paces) {
  if (paces.empty()) return true;
  std::vector<double> values;
  for (const Pace& pace : paces) values.push_back(pace.value);
  const double middle = median(std::move(values));
  return std::ranges::all_of(paces, [&](const Pace& pace) {
    const double allowed = kSamePace + kByChance / std::sqrt(static_cast<double>(pace.calls));
    return std::abs(pace.value - middle) <= allowed * middle;
  });
}

// From NCCL 2.27 on, a launch counts only on ranks whose NIC takes part, so op counts grow at
// different paces, or not at all.
bool count_at_one_pace(const std::vector<Tail>& tails) {
  std::vector<Pace> lately;
  std::vector<Pace> in_all;
  for (const Tail& tail : tails) {
    const RecentCalls& recent = *tail.recent;
    if (recent.size() < 2) continue;
    std::size_t steps = 0;
    for (std::size_t i = 1; i < recent.size(); ++i)
      if (recent[i].op_count > recent[i - 1].op_count) ++steps;
    if (steps == 0) return false;
    lately.push_back(
        {static_cast<double>(steps) / static_cast<double>(recent.size() - 1), recent.size()});
    if (tail.from_start && tail.calls >= RecentCalls::kMost / 2)
      in_all.push_back({static_cast<double>(tail.last_op_count - tail.first_op_count + 1) /
                            static_cast<double>(tail.calls),
                        tail.calls});
  }
  return !lately.empty() && alike(lately) && alike(in_all);
}

using Group = std::vector<std::uint32_t>;  // calls with the same op count

std::map<std::uint64_t, Group> groups_of(const RecentCalls& recent) {
  std::map<std::uint64_t, Group> groups;
  for (std::size_t i = 0; i < recent.size(); ++i)
    groups[recent[i].op_count].push_back(recent[i].symbol);
  return groups;
}

// If `part` is `whole` with gaps: where its last call stands in `whole`, counted from 1. Else 0.
std::size_t end_within(const Group& part, const Group& whole) {
  std::size_t at = 0;
  for (std::uint32_t symbol : part) {
    while (at < whole.size() && whole[at] != symbol) ++at;
    if (at == whole.size()) return 0;
    ++at;
  }
  return at;
}

struct Slot {
  std::uint64_t start = 0;  // position of its first call
  Group calls;
};
using Slots = std::map<std::uint64_t, Slot>;

// For each op count, the group of calls that explains the groups of most ranks.
Slots slots_of(const std::vector<std::map<std::uint64_t, Group>>& ranks) {
  std::map<std::uint64_t, std::map<Group, std::size_t>> votes;
  for (const auto& groups : ranks)
    for (const auto& [op_count, calls] : groups) ++votes[op_count][calls];
  Slots slots;
  std::uint64_t position = 0;
  for (const auto& [op_count, candidates] : votes) {
    // A group that lacks a line must not win over the whole group only because more ranks show it.
    auto support = [&](const Group& whole) {
      std::size_t sum = 0;
      for (const auto& [calls, count] : candidates)
        if (end_within(calls, whole) != 0) sum += count;
      return sum;
    };
    using Candidate = const std::pair<const Group, std::size_t>*;
    std::vector<Candidate> strongest;
    for (const auto& candidate : candidates) strongest.push_back(&candidate);
    if (strongest.size() > kMostCandidates) {
      std::ranges::stable_sort(strongest, std::greater{}, [](Candidate candidate) {
        return std::pair(candidate->second, candidate->first.size());
      });
      strongest.resize(kMostCandidates);
    }
    const Candidate best = *std::ranges::max_element(strongest, {}, [&](Candidate candidate) {
      return std::pair(support(candidate->first), candidate->second);
    });
    slots[op_count] = {position, best->first};
    position += best->first.size();
  }
  return slots;
}

// The share of a rank's groups that fit the slots, `shift` op counts later.
double agreement(const std::map<std::uint64_t, Group>& groups, const Slots& slots,
                 std::uint64_t from, std::uint64_t shift) {
  std::size_t all = 0;
  std::size_t found = 0;
  for (auto group = groups.lower_bound(from); group != groups.end(); ++group) {
    auto slot = slots.find(group->first + shift);
    if (slot == slots.end()) continue;
    ++all;
    if (end_within(group->second, slot->second.calls) != 0) ++found;
  }
  return all == 0 ? 1 : static_cast<double>(found) / static_cast<double>(all);
}

// Whether ranks agree because they count alike, and not only because they repeat the same call: if
// shifted by one op count, some rank agrees less.
bool tells_places_apart(const std::vector<std::map<std::uint64_t, Group>>& ranks,
                        const Slots& slots) {
  return std::ranges::any_of(ranks, [&](const auto& groups) {
    return agreement(groups, slots, 0, 1) < kAgrees && agreement(groups, slots, 0, 0) >= kAgrees;
  });
}

// Whether all logs begin at the same op count.
bool begin_alike(const std::vector<Tail>& tails) {
  std::set<std::uint64_t> first;
  for (const Tail& tail : tails)
    if (!tail.recent->empty()) first.insert(tail.first_op_count);
  return first.size() == 1;
}

// Set if the rank disagrees with the others from some op count on.
std::optional<Axis::Odd> odd_one(std::size_t tail, const std::map<std::uint64_t, Group>& groups,
                                 const Slots& slots) {
  std::vector<std::uint64_t> disagree;
  for (const auto& [op_count, calls] : groups)
    if (auto slot = slots.find(op_count);
        slot != slots.end() && end_within(calls, slot->second.calls) == 0)
      disagree.push_back(op_count);
  if (disagree.size() < kLeastOddCalls) return std::nullopt;
  const std::uint64_t first = disagree.front();
  const auto after =
      static_cast<std::size_t>(std::distance(groups.lower_bound(first), groups.end()));
  if (disagree.size() * 2 < after) return std::nullopt;
  return Axis::Odd{.tail = tail,
                   .position = slots.at(first).start,
                   .call = groups.at(first).front(),
                   .shifted = agreement(groups, slots, first, 1) >= kAgrees};
}

}  // namespace

std::optional<Axis> axis_by_op_count(const std::vector<Tail>& tails) {
  if (!count_at_one_pace(tails)) return std::nullopt;
  std::vector<std::map<std::uint64_t, Group>> ranks;
  ranks.reserve(tails.size());
  for (const Tail& tail : tails) ranks.push_back(groups_of(*tail.recent));
  const Slots slots = slots_of(ranks);
  const auto agreeing = static_cast<double>(std::ranges::count_if(
      ranks, [&](const auto& groups) { return agreement(groups, slots, 0, 0) >= kAgrees; }));
  if (agreeing < kMostAgree * static_cast<double>(ranks.size())) return std::nullopt;
  if (!tells_places_apart(ranks, slots) && !begin_alike(tails)) return std::nullopt;

  Axis axis;
  for (const auto& [op_count, slot] : slots)
    for (std::uint32_t symbol : slot.calls) {
      axis.calls.push_back(symbol);
      axis.op_counts.push_back(op_count);
    }
  axis.positions.resize(tails.size());
  std::uint64_t spanned = 0;
  std::uint64_t seen = 0;
  for (std::size_t which = 0; which < tails.size(); ++which) {
    const auto& groups = ranks[which];
    if (groups.empty()) {
      if (tails[which].from_start) axis.positions[which] = 0;
      continue;
    }
    const auto& [last, calls] = *groups.rbegin();
    const Slot& slot = slots.at(last);
    const std::size_t end = end_within(calls, slot.calls);
    const std::uint64_t position = slot.start + (end == 0 ? slot.calls.size() : end);
    axis.positions[which] = position;
    axis.furthest = std::max(axis.furthest, position);
    spanned += position - slots.at(groups.begin()->first).start;
    seen += tails[which].recent->size();
    if (agreement(groups, slots, 0, 0) < 1)
      if (auto odd = odd_one(which, groups, slots)) axis.odd.push_back(*odd);
  }
  if (spanned > seen) axis.loss = 1 - static_cast<double>(seen) / static_cast<double>(spanned);
  return axis;
}

}  // namespace faultline
