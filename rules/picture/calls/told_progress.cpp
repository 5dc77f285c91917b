#include "rules/picture/calls/told_progress.h"

#include <algorithm>
#include <iterator>

#include "rules/picture/calls/told/adapters.h"

namespace faultline {
namespace {

using Rows = std::vector<const ToldRow*>;

// Of numbered operations the first, and of lists those that are whole, if there are any.
Rows telling(Rows rows) {
  std::erase_if(rows, [](const ToldRow* row) { return row->with(HowFar::not_entered).empty(); });
  if (rows.empty()) return rows;
  const auto first = (*std::ranges::min_element(rows, {}, &ToldRow::sequence))->sequence;
  std::erase_if(rows, [&](const ToldRow* row) { return row->sequence != first; });
  if (std::ranges::any_of(rows, [](const ToldRow* row) { return !row->is_part; }))
    std::erase_if(rows, [](const ToldRow* row) { return row->is_part; });
  return rows;
}

std::set<int> waited_for(const Rows& rows) {
  std::set<int> missing;
  std::set<int> waiting;
  for (const ToldRow* row : rows) {
    missing.merge(row->with(HowFar::not_entered));
    waiting.merge(row->with(HowFar::entered));
    waiting.merge(row->with(HowFar::started));
  }
  std::set<int> origins;
  std::ranges::set_difference(missing, waiting, std::inserter(origins, origins.end()));
  return origins;
}

}  // namespace

std::set<int> ToldRow::with(HowFar how_far) const {
  std::set<int> all;
  for (const auto& [rank, stands] : ranks)
    if (stands == how_far) all.insert(rank);
  return all;
}

std::vector<ToldRow> told_rows(const View& view, const TorchCrew& crew) {
  std::vector<ToldRow> rows;
  for (auto* adapter : {rows_of_barriers, rows_of_desync, rows_of_horovod, rows_of_jax})
    std::ranges::move(adapter(view, crew), std::back_inserter(rows));
  return rows;
}

std::vector<ToldAbsence> told_absences(const std::vector<ToldRow>& rows) {
  std::vector<std::string> witnesses;
  for (const ToldRow& row : rows)
    if (std::ranges::find(witnesses, row.witness) == witnesses.end())
      witnesses.push_back(row.witness);
  std::vector<ToldAbsence> absences;
  for (const std::string& witness : witnesses) {
    Rows of_witness;
    for (const ToldRow& row : rows)
      if (row.witness == witness) of_witness.push_back(&row);
    of_witness = telling(std::move(of_witness));
    std::set<int> ranks = waited_for(of_witness);
    if (ranks.empty()) continue;
    const ToldRow* row = of_witness.front()->repeated ? of_witness.back() : of_witness.front();
    absences.push_back({row, std::move(ranks)});
  }
  return absences;
}

}  // namespace faultline
