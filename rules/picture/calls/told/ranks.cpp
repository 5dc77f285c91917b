#include <cstdlib>

#include "rules/picture/calls/told/adapters.h"

namespace faultline {

ProgressTable table_of_ranks(const TorchCrew& crew) {
  ProgressTable table;
  table.names = [&crew](const std::set<int>& ranks) { return crew.people(ranks); };
  table.subject = [&crew](const std::set<int>& ranks) { return crew.subject_of(ranks); };
  return table;
}

void add_absent(ProgressRow& row, const std::vector<int>& ranks, const LineRef& line) {
  for (const int rank : ranks) row.members[rank].how_far = HowFar::not_entered;
  if (row.line != nullptr) return;
  row.line = &line;
  row.since = line.time;
}

int number_of(const SignatureMatch& match, std::string_view field) {
  const auto found = match.fields.find(field);
  return found == match.fields.end() ? -1 : std::atoi(found->second.c_str());
}

}  // namespace faultline
