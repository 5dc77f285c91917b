#include "rules/detect/detector.h"

#include <algorithm>

namespace faultline {

Suspicion hang(Cause cause, Sureness sure, const EventTime& since) {
  Suspicion suspicion;
  suspicion.stops_job = true;
  suspicion.verdict = Verdict::hang;
  suspicion.since = since;
  suspicion.sure = std::move(sure);
  suspicion.finding.cause = cause;
  suspicion.finding.severity = Severity::critical;
  return suspicion;
}

void add_last_lines(const View& view, const std::vector<std::size_t>& members, Finding& finding) {
  for (const std::size_t index : members) {
    if (finding.evidence.size() >= kMostLines) return;
    if (const LineRef& line = view.member(index).latest_line(); line.known())
      finding.evidence.push_back(view.evidence(line));
  }
}

}  // namespace faultline
