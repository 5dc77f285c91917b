#include <fmt/format.h>

#include "rules/picture/calls/told/adapters.h"

namespace faultline {

ToldRows rows_of_desync(const View& view, const TorchCrew& crew) {
  std::map<std::uint64_t, ToldRow> rows;
  for (const auto& entry : view.job.torch().desync()) {
    if (!crew.in_attempt(entry.line)) continue;
    const std::string& what = entry.fact.what;
    if (what != "never_joined" && what != "not_joined") continue;
    const std::uint64_t at = what == "never_joined" ? 0 : entry.fact.sequence.value_or(0);
    ToldRow& row = rows[at];
    row.witness = "desync report";
    row.sequence = at;
    for (const int rank : entry.fact.ranks) row.ranks[rank] = HowFar::not_entered;
    const std::string where =
        at > 0 ? fmt::format("collective {}", at) : std::string("any collective");
    row.missed = fmt::format("did not join {}, says the desync report", where);
    if (row.line == nullptr) row.line = &entry.line;
  }
  ToldRows all;
  for (auto& [at, row] : rows) all.push_back(std::move(row));
  return all;
}

}  // namespace faultline
