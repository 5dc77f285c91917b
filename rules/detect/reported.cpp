#include "rules/detect/reported.h"

#include <fmt/format.h>

#include <iterator>
#include <map>

#include "rules/detect/reported/absent.h"
#include "rules/detect/reported/inspected.h"
#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

void append(std::vector<Suspicion>& all, std::vector<Suspicion> more) {
  std::ranges::move(more, std::back_inserter(all));
}

// Which side each proxy waits for: its own GPU, which has not produced the data yet, or the network
// and the peer behind it. That shows where to look next, and accuses nobody.
std::vector<Suspicion> find_proxy_waits(const View& view) {
  std::map<std::pair<std::string, int>, Suspicion> by_subject;
  for (const auto& [index, waits] : view.job.reports().proxies()) {
    if (waits.gpu + waits.network == 0) continue;
    const Source& origin = view.job.sources().at(index).source;
    const int rank = waits.rank >= 0 ? waits.rank : origin.rank;
    const std::string host = waits.host.empty() ? view.job.sources().host_of(index) : waits.host;
    auto [known, is_new] = by_subject.try_emplace({host, rank});
    Suspicion& suspicion = known->second;
    Finding& finding = suspicion.finding;
    if (waits.gpu > 0) finding.evidence.push_back(view.evidence(waits.gpu_line));
    if (waits.network > 0) finding.evidence.push_back(view.evidence(waits.network_line));
    if (!is_new) continue;
    const std::string whose = rank >= 0 ? fmt::format("rank {}", rank) : origin.name;
    finding.cause = Cause::collective_stalled;
    finding.title =
        fmt::format("The proxy of {} waits for its own GPU in {} places and for the network in {}",
                    whose, waits.gpu, waits.network);
    finding.severity = Severity::info;
    suspicion.sure = Claim::proxy_waits;
    if (!host.empty()) finding.subject.hosts = {host};
    if (rank >= 0) finding.subject.ranks = {rank};
    suspicion.verdict = Verdict::healthy;
  }
  std::vector<Suspicion> found;
  for (auto& [subject, suspicion] : by_subject) found.push_back(std::move(suspicion));
  return found;
}

}  // namespace

std::vector<Suspicion> find_reported(const View& view) {
  std::vector<Suspicion> found = find_reported_absent(view);
  append(found, find_reported_errors(view));
  append(found, find_inspected_ends(view));
  append(found, find_proxy_waits(view));
  return found;
}

}  // namespace faultline
