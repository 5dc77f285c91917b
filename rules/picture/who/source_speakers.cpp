#include "rules/picture/who/source_speakers.h"

#include <algorithm>
#include <set>

#include "rules/state/rank_ties.h"

namespace faultline {

SourceSpeakers::SourceSpeakers(const View& view)
    : by_file_name_(ranks_by_file_names(view.job.sources(), {})) {
  std::map<std::pair<std::uint32_t, std::size_t>, std::uint64_t> last;  // source, worker
  for (const std::size_t index : view.members) {
    const LineRef& call = view.member(index).last_line;
    if (!call.known()) continue;
    std::uint64_t& line = last[{call.source, view.workers.of_member[index]}];
    line = std::max(line, call.line);
  }
  for (const auto& [key, line] : last)
    by_source_[key.first].push_back(
        {view.workers.all[key.second].rank, line, view.behind.contains(key.second)});
}

std::vector<const SourceSpeakers::Speaker*> SourceSpeakers::stopped_before(
    const LineRef& line) const {
  std::vector<const Speaker*> stopped;
  const auto known = by_source_.find(line.source);
  if (known == by_source_.end()) return stopped;
  for (const Speaker& speaker : known->second)
    if (speaker.is_waited_for && speaker.last_call < line.line) stopped.push_back(&speaker);
  return stopped;
}

bool SourceSpeakers::went_on(int rank, const LineRef& line) const {
  const auto known = by_source_.find(line.source);
  if (known == by_source_.end()) return false;
  const bool calls_follow = std::ranges::any_of(known->second, [&](const Speaker& speaker) {
    return (rank < 0 || speaker.rank == rank) && speaker.last_call > line.line;
  });
  return calls_follow && (rank >= 0 || stopped_before(line).empty());
}

int SourceSpeakers::rank_of(const LineRef& line) const {
  const auto known = by_source_.find(line.source);
  const bool one_speaks = known == by_source_.end() || known->second.size() == 1;
  if (one_speaks) {
    const int rank = known == by_source_.end() ? -1 : known->second.front().rank;
    const auto name = by_file_name_.find(line.source);
    return rank < 0 && name != by_file_name_.end() ? name->second : rank;
  }
  const std::vector<const Speaker*> stopped = stopped_before(line);
  const bool calls_follow = std::ranges::any_of(
      known->second, [&](const Speaker& speaker) { return speaker.last_call > line.line; });
  return calls_follow && stopped.size() == 1 ? stopped.front()->rank : -1;
}

}  // namespace faultline
