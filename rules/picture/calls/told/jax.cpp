#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "rules/knowledge/ground_names.h"
#include "rules/picture/calls/told/adapters.h"

namespace faultline {
namespace {

// The service reports to every task, and each task prints the report; equal rows become one stall
// later.
ProgressTable table_of(const View& view, const TorchCrew& crew,
                       std::initializer_list<std::string_view> told) {
  ProgressTable table = table_of_ranks(crew);
  for (const auto& entry : view.job.torch().desync()) {
    const std::string& what = entry.fact.what;
    const bool is_told =
        std::ranges::any_of(told, [&](std::string_view ending) { return what.ends_with(ending); });
    if (!is_told || !crew.in_attempt(entry.line)) continue;
    ProgressRow& row = table.rows.emplace_back();
    add_absent(row, entry.fact.ranks, entry.line);
    row.is_part = what.starts_with("some_");
    row.is_pulse = what.ends_with("silent");
    row.at_start = what.ends_with("at_start");
    row.behind = row.is_pulse
                     ? Telling{"sent no more heartbeats to JAX's coordination service",
                               Claim::desync_lagging}
                     : Telling{fmt::format("did not come to {}, says JAX's coordination service",
                                           entry.fact.operation.empty() ? "a barrier"
                                                                        : entry.fact.operation),
                               Claim::desync_barrier};
  }
  return table;
}

}  // namespace

ProgressTable table_of_jax_barriers(const View& view, const TorchCrew& crew) {
  return table_of(view, crew, {"not_at_barrier", "not_at_start"});
}

ProgressTable table_of_jax_heartbeats(const View& view, const TorchCrew& crew) {
  return table_of(view, crew, {"silent"});
}

}  // namespace faultline
