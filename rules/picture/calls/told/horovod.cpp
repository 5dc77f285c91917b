#include <fmt/format.h>

#include "rules/picture/calls/told/adapters.h"

namespace faultline {

// A row for each tensor that some have submitted; of several sources, the last one's.
ToldRows rows_of_horovod(const View& view, const TorchCrew& crew) {
  ToldRows rows;
  std::set<int> named;
  for (const auto& entry : view.job.torch().desync()) {
    if (entry.fact.what != "not_submitted" || !crew.in_attempt(entry.line)) continue;
    if (!rows.empty() && rows.back().line->source != entry.line.source) {
      rows.clear();
      named.clear();
    }
    ToldRow& row = rows.emplace_back();
    row.witness = "Horovod";
    for (const int rank : entry.fact.ranks) row.ranks[rank] = HowFar::not_entered;
    named.insert(entry.fact.ranks.begin(), entry.fact.ranks.end());
    row.missed = fmt::format("did not submit {}, for which the others wait, says Horovod",
                             entry.fact.operation);
    row.repeated = true;
    row.line = &entry.line;
  }
  // Whom a row does not list has submitted its tensor.
  for (ToldRow& row : rows)
    for (const int rank : named) row.ranks.try_emplace(rank, HowFar::entered);
  return rows;
}

}  // namespace faultline
