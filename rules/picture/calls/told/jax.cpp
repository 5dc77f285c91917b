#include <fmt/format.h>

#include "rules/knowledge/ground_names.h"
#include "rules/picture/calls/told/adapters.h"

namespace faultline {
namespace {

// The service tells every task, and each prints it: rows alike are told as one.
ProgressTable table_of(const View& view, const TorchCrew& crew, std::string_view told) {
  ProgressTable table = table_of_ranks(crew);
  for (const auto& entry : view.job.torch().desync()) {
    const std::string& what = entry.fact.what;
    if (!what.ends_with(told) || !crew.in_attempt(entry.line)) continue;
    ProgressRow& row = table.rows.emplace_back();
    add_absent(row, entry.fact.ranks, entry.line);
    row.is_part = what.starts_with("some_");
    row.is_pulse = told == "silent";
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
  return table_of(view, crew, "not_at_barrier");
}

ProgressTable table_of_jax_heartbeats(const View& view, const TorchCrew& crew) {
  return table_of(view, crew, "silent");
}

}  // namespace faultline
