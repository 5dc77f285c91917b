#include <fmt/format.h>

#include "rules/knowledge/ground_names.h"
#include "rules/picture/calls/told/adapters.h"

namespace faultline {

ProgressTable table_of_barriers(const View& view, const TorchCrew& crew) {
  ProgressTable table = table_of_ranks(crew);
  for (const auto& barrier : view.job.torch().barriers()) {
    if (!crew.in_attempt(barrier.line) || barrier.fact.ranks.empty()) continue;
    ProgressRow& row = table.rows.emplace_back();
    add_absent(row, barrier.fact.ranks, barrier.line);
    row.is_part = !barrier.fact.all_named;
    row.behind = {
        fmt::format("did not come to monitored_barrier within {} ms", barrier.fact.timeout_ms),
        Claim::desync_barrier};
  }
  return table;
}

}  // namespace faultline
