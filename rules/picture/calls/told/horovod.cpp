#include <fmt/format.h>

#include <algorithm>

#include "rules/knowledge/ground_names.h"
#include "rules/picture/calls/told/adapters.h"

namespace faultline {
namespace {

// Calls after the list was printed show that the listed ranks were only late.
bool went_on_after(const View& view, const LineRef& line) {
  return std::ranges::any_of(view.members, [&](std::size_t member) {
    const LineRef& last = view.member(member).last_line;
    return last.known() && said_order(line, last) == Order::before;
  });
}

}  // namespace

// A row for each tensor that some ranks have submitted, from the last source that has such a list.
// A list is printed again for as long as it holds, so the last row comes first.
ProgressTable table_of_horovod(const View& view, const TorchCrew& crew) {
  ProgressTable table = table_of_ranks(crew);
  std::set<int> named;
  for (const auto& entry : view.job.torch().desync()) {
    if (entry.fact.what != "not_submitted" || !crew.in_attempt(entry.line)) continue;
    if (!table.rows.empty() && table.rows.back().line->source != entry.line.source) {
      table.rows.clear();
      named.clear();
    }
    ProgressRow& row = table.rows.emplace_back();
    add_absent(row, entry.fact.ranks, entry.line);
    named.insert(entry.fact.ranks.begin(), entry.fact.ranks.end());
    row.behind = {fmt::format("did not submit {}, for which the others wait, says Horovod",
                              entry.fact.operation),
                  Claim::desync_lagging};
    row.ahead = {fmt::format("submitted {}, and none of the {} others did, says Horovod",
                             entry.fact.operation, entry.fact.ranks.size()),
                 Claim::report_ahead};
  }
  if (!table.rows.empty() && went_on_after(view, *table.rows.back().line)) table.rows.clear();
  std::ranges::reverse(table.rows);
  // A rank that a row does not list has submitted the tensor.
  constexpr std::size_t kMostFilledIn = std::size_t{1} << 20;
  if (table.rows.size() * static_cast<std::size_t>(crew.expected()) <= kMostFilledIn)
    for (int rank = 0; rank < crew.expected(); ++rank) named.insert(rank);
  for (ProgressRow& row : table.rows)
    for (const int rank : named)
      row.members.try_emplace(rank, Came{.how_far = HowFar::entered, .lines = {}});
  return table;
}

}  // namespace faultline
