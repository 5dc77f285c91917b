#include "rules/detect/ends_too_soon.h"

#include <algorithm>
#include <optional>
#include <set>

namespace faultline {
namespace {

constexpr std::uint64_t kCallsToKnow = 4;

// A member of an alignment, and how many calls it entered.
struct Standing {
  const Member* member = nullptr;
  std::uint64_t entered = 0;

  // The line in which it entered the call at `position`, if it is among its recent calls.
  std::optional<std::uint64_t> line_of(std::uint64_t position) const {
    const RecentCalls& recent = member->recent;
    if (position >= entered || entered - position > recent.size()) return std::nullopt;
    return recent[recent.size() - (entered - position)].line;
  }
};

using Standings = std::vector<Standing>;

// The lines of one call: the first and the last of those members that entered it.
struct Lines {
  std::uint64_t first = UINT64_MAX;
  std::uint64_t last = 0;
  bool of_all = true;
};

Lines lines_of_call(const Standings& standings, std::uint64_t position) {
  Lines lines;
  for (const Standing& standing : standings) {
    const auto line = standing.line_of(position);
    lines.of_all = lines.of_all && line;
    if (!line) continue;
    lines.first = std::min(lines.first, *line);
    lines.last = std::max(lines.last, *line);
  }
  return lines;
}

// The last calls that all entered, the latest first.
std::vector<Lines> calls_of_all(const Standings& standings, std::uint64_t before) {
  std::vector<Lines> calls;
  while (before > 0 && calls.size() < RecentCalls::kMost) {
    const Lines lines = lines_of_call(standings, --before);
    if (!lines.of_all) break;
    calls.push_back(lines);
  }
  return calls;
}

Standings standings_of(const View& view, const Alignment& alignment) {
  Standings standings;
  for (std::size_t i = 0; i < alignment.members.size(); ++i)
    standings.push_back({&view.member(alignment.members[i]), alignment.positions[i]});
  return standings;
}

// Whether the late ranks made far fewer calls than the others, which made nearly as many as each
// other. A log that is cut at any line shows the others as far apart as the late ones.
bool others_came_to_rest(const View& view, const std::set<std::size_t>& late) {
  constexpr std::size_t kLeastOthers = 4;
  constexpr std::uint64_t kLeastGap = 8;
  constexpr std::uint64_t kTimesTheSpread = 4;
  std::vector<std::uint64_t> calls(view.workers.all.size());  // by worker
  for (const Alignment& alignment : view.alignments)
    for (std::size_t i = 0; i < alignment.members.size(); ++i)
      calls[view.workers.of_member[alignment.members[i]]] += alignment.positions[i];
  std::uint64_t most_of_late = 0;
  std::vector<std::uint64_t> of_others;
  for (std::size_t worker = 0; worker < calls.size(); ++worker)
    if (late.contains(worker))
      most_of_late = std::max(most_of_late, calls[worker]);
    else if (calls[worker] > 0)
      of_others.push_back(calls[worker]);
  if (of_others.size() < kLeastOthers) return false;
  std::ranges::sort(of_others);
  const std::uint64_t spread =
      of_others[of_others.size() * 3 / 4] - of_others[of_others.size() / 4];
  const std::uint64_t least_gap = std::max(kLeastGap, kTimesTheSpread * spread);
  return of_others[of_others.size() / 2] >= most_of_late + least_gap;
}

// Whether the worker was silent for much longer, in lines of the log, than ever before.
bool fell_silent(const View& view, std::size_t worker, std::uint32_t source, std::uint64_t end) {
  constexpr double kMuchLonger = 1.25;
  constexpr std::size_t kEnoughCalls = 16;
  std::vector<std::uint64_t> lines;
  std::uint64_t known_from = 0;  // of a communicator with many calls only the last ones are known
  for (const std::size_t index : view.members) {
    const Member& member = view.member(index);
    if (view.workers.of_member[index] != worker || member.calls_source != source) continue;
    for (std::size_t i = 0; i < member.recent.size(); ++i) lines.push_back(member.recent[i].line);
    if (member.recent.size() == RecentCalls::kMost)
      known_from = std::max(known_from, member.recent[0].line);
  }
  std::erase_if(lines, [&](std::uint64_t line) { return line < known_from; });
  std::ranges::sort(lines);
  std::uint64_t longest = 0;
  for (std::size_t i = 1; i < lines.size(); ++i)
    longest = std::max(longest, lines[i] - lines[i - 1]);
  return lines.size() >= kEnoughCalls && static_cast<double>(end - std::min(end, lines.back())) >
                                             kMuchLonger * static_cast<double>(longest);
}

}  // namespace

bool ends_too_soon(const View& view, const Alignment& alignment,
                   const std::set<std::size_t>& late) {
  const std::uint32_t source = view.member(alignment.members.front()).calls_source;
  if (std::ranges::any_of(alignment.members, [&](std::size_t member) {
        return view.member(member).calls_source != source;
      }))
    return false;
  const Standings all = standings_of(view, alignment);
  const Lines missed = lines_of_call(all, alignment.slowest);
  const std::uint64_t end = view.job.sources().at(source).lines;
  if (missed.last == 0 || missed.first > end) return false;

  // Before the first calls nothing shows how far apart the ranks write: at least a line each.
  std::uint64_t usual = all.size();
  const std::vector<Lines> earlier = calls_of_all(all, alignment.slowest);
  for (const Lines& lines : earlier) usual = std::max(usual, lines.last - lines.first + 1);
  // The fewer calls there were, the less they show how far apart the ranks may be.
  usual += usual * kCallsToKnow / std::max<std::size_t>(1, earlier.size());
  if (end - missed.first + 1 > usual) return false;
  constexpr std::size_t kMostOfAHost = 16;  // ranks stop alone or with their host
  const bool fell_silent_together =
      late.size() <= kMostOfAHost && std::ranges::all_of(late, [&](std::size_t worker) {
        return fell_silent(view, worker, source, end);
      });
  return !fell_silent_together && !others_came_to_rest(view, late);
}

}  // namespace faultline
