#include "parsers/torch/listed_ranks.h"

#include <utility>

namespace faultline {

void ListedRanks::add(int rank) {
  constexpr std::size_t kMostRanks = 65536;
  if (entry.ranks.size() < kMostRanks) entry.ranks.push_back(rank);
}

void ListedRanks::give(std::vector<DocumentReading>& readings) {
  if (!entry.ranks.empty())
    readings.push_back({.reading = {.fact = std::move(entry)}, .line = std::move(first)});
  *this = {};
}

std::size_t ListedRanks::size() const {
  return entry.ranks.size() * sizeof(int) + entry.operation.size() + first.text.size();
}

void ListedRanks::save(SavedBytesWriter& saved) const {
  saved.number(foreign);
  saved.text(entry.what);
  saved.text(entry.operation);
  saved.number(static_cast<std::int64_t>(entry.ranks.size()));
  for (const int rank : entry.ranks) saved.number(rank);
  first.save(saved);
}

void ListedRanks::restore(SavedBytesReader& saved) {
  foreign = saved.small_number();
  entry.what = saved.text();
  entry.operation = saved.text();
  const std::int64_t ranks = saved.number();
  for (std::int64_t i = 0; i < ranks && saved.ok(); ++i)
    entry.ranks.push_back(saved.small_number());
  first.restore(saved);
}

}  // namespace faultline
