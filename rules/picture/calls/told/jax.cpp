#include <fmt/format.h>

#include "rules/picture/calls/told/adapters.h"

namespace faultline {

// The service tells every task, and each prints it: the first line will do.
ToldRows rows_of_jax(const View& view, const TorchCrew& crew) {
  ToldRows rows;
  for (const auto& entry : view.job.torch().desync()) {
    const std::string& what = entry.fact.what;
    const bool silent = what.ends_with("silent");
    if (!silent && !what.ends_with("not_at_barrier")) continue;
    if (!crew.in_attempt(entry.line)) continue;
    ToldRow row;
    row.witness = silent ? "JAX's heartbeats" : "JAX's barriers";
    row.tells_of = silent ? TellsOf::pulse : TellsOf::barrier;
    for (const int rank : entry.fact.ranks) row.ranks[rank] = HowFar::not_entered;
    const std::string name = entry.fact.operation.empty() ? "a barrier" : entry.fact.operation;
    row.missed = silent ? std::string("sent no more heartbeats to JAX's coordination service")
                        : fmt::format("did not come to {}, says JAX's coordination service", name);
    row.is_part = what.starts_with("some_");
    row.line = &entry.line;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace faultline
