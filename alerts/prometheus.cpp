#include "alerts/prometheus.h"

#include <boost/describe/enum_to_string.hpp>

#include <map>
#include <utility>

namespace faultline {
namespace {

struct Tally {
  std::uint64_t open = 0;
  std::uint64_t opened = 0;
};

}  // namespace

void write_findings(Exposition& out, Store& store) {
  std::map<std::pair<std::string, std::string_view>, Tally> tallies;
  FindingFilter filter;
  filter.limit = 1000;
  for (std::optional<std::uint64_t> next = 0; next;) {
    filter.after = *next;
    FindingPage page = store.findings(filter);
    for (const StoredFinding& stored : page.findings) {
      const std::string_view severity =
          boost::describe::enum_to_string(stored.finding.severity, "unknown");
      Tally& tally = tallies[{stored.finding.cause, severity}];
      ++tally.opened;
      if (!stored.resolved) ++tally.open;
    }
    next = page.next;
  }

  out.family("faultline_findings_open", "gauge", "Findings that stand, by class and severity.");
  for (const auto& [key, tally] : tallies)
    out.sample({{"class", key.first}, {"severity", key.second}}, tally.open);
  out.family("faultline_findings_opened_total", "counter",
             "Findings ever opened, by class and severity.");
  for (const auto& [key, tally] : tallies)
    out.sample({{"class", key.first}, {"severity", key.second}}, tally.opened);
}

}  // namespace faultline
