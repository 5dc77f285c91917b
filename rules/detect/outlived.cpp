#include "rules/detect/outlived.h"

#include <algorithm>

namespace faultline {
namespace {

// All communicators of all ranks were taken down in good order. One rank alone may do that on its
// way out of a failure.
bool came_to_its_end(const View& view) {
  return !view.workers.all.empty() && std::ranges::all_of(view.members, [&](std::size_t member) {
    return view.member(member).ending == CommunicatorEnding::destroyed;
  });
}

}  // namespace

void spare_what_was_outlived(const View& view, std::vector<Suspicion>& suspicions) {
  if (suspicions.empty() || !came_to_its_end(view)) return;
  for (Suspicion& suspicion : suspicions) {
    const bool stops = suspicion.verdict == Verdict::failed || suspicion.verdict == Verdict::hang ||
                       suspicion.verdict == Verdict::unknown;
    if (!stops || !suspicion.finding.part_of_job) continue;
    suspicion.verdict = Verdict::healthy;
    suspicion.stops_job = false;
    suspicion.finding.severity = std::min(suspicion.finding.severity, Severity::warning);
    suspicion.finding.title += "; the job came to its end";
  }
}

}  // namespace faultline
