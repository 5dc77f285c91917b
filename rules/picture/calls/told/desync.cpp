#include <fmt/format.h>

#include "rules/knowledge/ground_names.h"
#include "rules/picture/calls/told/adapters.h"

namespace faultline {

// A row for each collective that some ranks did not join; number 0 stands for ranks that joined
// none.
ProgressTable table_of_desync(const View& view, const TorchCrew& crew) {
  std::map<std::uint64_t, ProgressRow> rows;
  for (const auto& entry : view.job.torch().desync()) {
    if (!crew.in_attempt(entry.line)) continue;
    const std::string& what = entry.fact.what;
    const bool finishes_not = what == "not_finished";
    if (what != "never_joined" && what != "not_joined" && !finishes_not) continue;
    const std::uint64_t at = what == "never_joined" ? 0 : entry.fact.sequence.value_or(0);
    ProgressRow& row = rows[at];
    row.sequence = at;
    if (finishes_not) {
      for (const int rank : entry.fact.ranks)
        row.members.try_emplace(rank, Came{.how_far = HowFar::entered, .lines = {&entry.line}});
      if (!row.since.known()) row.since = entry.line.time;
      continue;
    }
    add_absent(row, entry.fact.ranks, entry.line);
    row.behind = {at > 0 ? fmt::format("did not join collective {}, says the desync report", at)
                         : std::string("did not join any collective, says the desync report"),
                  Claim::desync_lagging};
  }
  ProgressTable table = table_of_ranks(crew);
  for (auto& [at, row] : rows) {
    const auto all = static_cast<std::size_t>(crew.expected());
    if (all > 1 && row.members.size() == all && row.behind.words.empty())
      row.all_entered = {
          fmt::format("All {} ranks joined collective {} and none finished it, says the desync "
                      "report",
                      all, at),
          Claim::timeout_stalled, true};
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace faultline
