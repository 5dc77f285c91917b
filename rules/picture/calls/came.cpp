#include "rules/picture/calls/came.h"

#include <algorithm>
#include <set>

#include "rules/picture/calls/stuck_groups.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {

CameByTorch::CameByTorch(const View& view) {
  if (view.job.torch().empty()) return;
  const TorchCrew& crew = view.crew();
  for (const TorchRank* rank : crew.ranks()) {
    if (rank->rank < 0 || rank->guessed) continue;
    for (const auto& [group, standing] : rank->standings)
      if (standing.enqueued && crew.in_attempt(standing.line))
        enqueued_[group][rank->rank] = *standing.enqueued;
  }
  ranks_ = crew.world().size();
  // Of several communicators of all ranks it is not known which one is PyTorch's group.
  if (std::ranges::count(view.communicators, ranks_, [](const Communicator& communicator) {
        return static_cast<std::size_t>(communicator.nranks);
      }) != 1)
    return;
  for (const StuckGroup& stuck : stuck_groups(crew))
    if (stuck.whole_job && !stuck.local && !stuck.point_to_point)
      stuck_in_ = std::min(stuck.sequence, stuck_in_.value_or(stuck.sequence));
}

bool CameByTorch::all_came(const View& view, const Alignment& alignment) const {
  // NCCL may count more calls than PyTorch does, never fewer.
  if (stuck_in_ && alignment.members.size() == ranks_ && alignment.furthest >= *stuck_in_ &&
      alignment.slowest + 1 < *stuck_in_)
    return true;
  std::set<int> behind;
  for (const std::size_t member : alignment.behind) behind.insert(view.worker_of(member).rank);
  bool any = false;
  for (const auto& [group, by_rank] : enqueued_) {
    if (by_rank.size() != alignment.members.size()) continue;
    std::int64_t least_of_behind = INT64_MAX;
    std::int64_t most_of_others = INT64_MIN;
    const bool same_ranks = std::ranges::all_of(alignment.members, [&](std::size_t member) {
      const auto known = by_rank.find(view.worker_of(member).rank);
      if (known == by_rank.end()) return false;
      if (behind.contains(known->first))
        least_of_behind = std::min(least_of_behind, known->second);
      else
        most_of_others = std::max(most_of_others, known->second);
      return true;
    });
    if (!same_ranks) continue;
    if (least_of_behind < most_of_others) return false;
    any = true;
  }
  return any;
}

}  // namespace faultline
