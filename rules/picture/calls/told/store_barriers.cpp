// PyTorch's barrier at the end of init_process_group, which ranks pass through the job's store.
// Each rank that waits there says every ten seconds how many ranks have come.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "model/ranks.h"
#include "rules/knowledge/ground_names.h"
#include "rules/picture/calls/told/adapters.h"
#include "rules/picture/read/sayings.h"

namespace faultline {
namespace {

struct StoreBarrier {
  std::map<int, const LineRef*> waiting;  // by rank: its last line
  int joined = 0;
  int wanted = 0;
  bool is_passed = false;
};

// By the key of each barrier in the store.
std::map<std::string, StoreBarrier> store_barriers(const View& view, const TorchCrew& crew) {
  std::map<std::string, StoreBarrier> barriers;
  for (const TorchRank* speaker : crew.ranks())
    for (const TorchSaying& saying : speaker->said) {
      if (!crew.in_attempt(saying.line)) continue;
      auto match = meaning_of(view, saying);
      if (!match) continue;
      const bool passed = match->signature->id == "torch.store_barrier_passed";
      if (!passed && match->signature->id != "torch.store_barrier_waits") continue;
      StoreBarrier& barrier = barriers[match->fields["key"]];
      barrier.is_passed |= passed;
      if (passed) continue;
      barrier.waiting[number_of(*match, "rank")] = &saying.last;
      barrier.joined = std::max(barrier.joined, number_of(*match, "joined"));
      barrier.wanted = std::max(barrier.wanted, number_of(*match, "wanted"));
    }
  return barriers;
}

// The ranks that did not come, if all that came say so; otherwise none can be named.
std::set<int> absent_from(const StoreBarrier& barrier) {
  const auto came = static_cast<int>(barrier.waiting.size());
  if (came < 2 || barrier.joined != came || barrier.wanted > kMaxRanks) return {};
  if (barrier.waiting.begin()->first < 0 || barrier.waiting.rbegin()->first >= barrier.wanted)
    return {};
  std::set<int> absent;
  for (int rank = 0; rank < barrier.wanted; ++rank)
    if (!barrier.waiting.contains(rank)) absent.insert(rank);
  return static_cast<int>(absent.size()) < came ? absent : std::set<int>();
}

}  // namespace

ProgressTable table_of_store_barriers(const View& view, const TorchCrew& crew) {
  ProgressTable table = table_of_ranks(crew);
  for (const auto& [key, barrier] : store_barriers(view, crew)) {
    const std::set<int> absent = barrier.is_passed ? std::set<int>() : absent_from(barrier);
    if (absent.empty()) continue;
    ProgressRow& row = table.rows.emplace_back();
    for (const auto& [rank, line] : barrier.waiting) {
      row.members[rank] = {.how_far = HowFar::entered, .lines = {line}};
      if (row.line == nullptr || said_order(*line, *row.line) == Order::before) row.line = line;
    }
    for (const int rank : absent) row.members[rank] = {.how_far = HowFar::not_entered, .lines = {}};
    row.since = row.line->time;
    row.at_start = true;
    row.behind = {fmt::format("did not come to the end of init_process_group, where the other {} "
                              "ranks waited",
                              barrier.waiting.size()),
                  Claim::store_wait};
  }
  return table;
}

}  // namespace faultline
