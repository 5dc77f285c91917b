#include "rules/detectors/outlived.h"

#include <algorithm>

namespace faultline {
namespace {

bool concerns(const Subject& subject, const Worker& worker) {
  const auto is_in = [](const auto& list, const auto& value) {
    return std::ranges::find(list, value) != list.end();
  };
  if (!subject.ranks.empty()) return is_in(subject.ranks, worker.rank);
  if (subject.hosts.empty()) return true;  // it may have been anybody's
  return is_in(subject.hosts, worker.host) || is_in(subject.hosts, worker.sender_host);
}

// All its communicators were taken down in good order, which a rank does that has done its work.
bool came_to_its_end(const View& view, const Worker& worker) {
  return !worker.members.empty() && std::ranges::all_of(worker.members, [&](std::size_t member) {
    return view.member(member).ending == CommunicatorEnding::destroyed;
  });
}

bool was_outlived(const View& view, const Subject& subject) {
  bool any = false;
  for (const Worker& worker : view.workers.all) {
    if (!concerns(subject, worker)) continue;
    if (!came_to_its_end(view, worker)) return false;
    any = true;
  }
  return any;
}

}  // namespace

void spare_what_was_outlived(const View& view, std::vector<Suspicion>& suspicions) {
  for (Suspicion& suspicion : suspicions) {
    const bool stops = suspicion.verdict == Verdict::failed || suspicion.verdict == Verdict::hang;
    if (!stops || !suspicion.finding.part_of_job || !was_outlived(view, suspicion.finding.subject))
      continue;
    suspicion.verdict = Verdict::healthy;
    suspicion.stops_job = false;
    suspicion.finding.severity = std::min(suspicion.finding.severity, Severity::warning);
    suspicion.finding.title += "; the job came to its end there";
  }
}

}  // namespace faultline
