#include <fmt/format.h>

#include "rules/picture/calls/told/adapters.h"

namespace faultline {

ToldRows rows_of_barriers(const View& view, const TorchCrew& crew) {
  ToldRows rows;
  for (const auto& barrier : view.job.torch().barriers()) {
    if (!crew.in_attempt(barrier.line) || barrier.fact.ranks.empty()) continue;
    ToldRow& row = rows.emplace_back();
    row.witness = "monitored_barrier";
    row.tells_of = TellsOf::barrier;
    for (const int rank : barrier.fact.ranks) row.ranks[rank] = HowFar::not_entered;
    row.missed =
        fmt::format("did not come to monitored_barrier within {} ms", barrier.fact.timeout_ms);
    row.is_part = !barrier.fact.all_named;
    row.line = &barrier.line;
  }
  return rows;
}

}  // namespace faultline
