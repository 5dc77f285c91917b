#include <fmt/format.h>

#include <map>
#include <utility>

#include "rules/knowledge/ground_names.h"
#include "rules/picture/calls/told/adapters.h"

namespace faultline {

// Each block of the report is a row: it names the ranks that did not enter a collective, and those
// that did.
ProgressTable table_of_fr_report(const View& view, const TorchCrew& crew) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, ProgressRow> rows;  // by the block's first line
  for (const auto& entry : view.job.torch().desync()) {
    const bool entered = entry.fact.what == "entered";
    if ((!entered && entry.fact.what != "not_entered") || !crew.in_attempt(entry.line)) continue;
    ProgressRow& row = rows[{entry.line.source, entry.line.line}];
    row.sequence = entry.fact.sequence.value_or(0);
    if (entered) {
      for (const int rank : entry.fact.ranks)
        row.members.try_emplace(rank, Came{.how_far = HowFar::entered, .lines = {&entry.line}});
      continue;
    }
    add_absent(row, entry.fact.ranks, entry.line);
    row.behind = {fmt::format("never entered {} {}, says torchfrtrace", entry.fact.operation,
                              entry.fact.sequence.value_or(0)),
                  Claim::recorder_compared};
  }
  ProgressTable table = table_of_ranks(crew);
  for (auto& [line, row] : rows)
    if (!row.behind.words.empty()) table.rows.push_back(std::move(row));
  return table;
}

}  // namespace faultline
