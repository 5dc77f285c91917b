#include "alerts/prometheus.h"

#include <boost/describe/enum_to_string.hpp>

namespace faultline {

void write_findings(Exposition& out, Store& store) {
  const std::vector<FindingTally> tallies = store.finding_tallies();
  const auto labels = [](const FindingTally& tally) {
    return Labels{{"class", tally.cause},
                  {"severity", boost::describe::enum_to_string(tally.severity, "unknown")}};
  };
  out.family("faultline_findings_open", "gauge", "Open findings, by class and severity.");
  for (const FindingTally& tally : tallies) out.sample(labels(tally), tally.open);
  out.family("faultline_findings_opened_total", "counter",
             "How often a finding was opened, by class and severity.");
  for (const FindingTally& tally : tallies) out.sample(labels(tally), tally.opened);
  out.family("faultline_finding_last_timestamp_seconds", "gauge",
             "When a finding was last opened, changed or resolved, since 1970.");
  for (const FindingTally& tally : tallies)
    out.sample(labels(tally),
               std::chrono::duration<double>(tally.last_changed.time_since_epoch()).count());
  out.family("faultline_finding_reviews_total", "counter",
             "Reviews by operators: acknowledged, wrong, closed, reopened.");
  for (const ReviewTally& tally : store.review_tallies())
    out.sample({{"class", tally.cause}, {"verdict", tally.verdict}}, tally.count);
}

}  // namespace faultline
