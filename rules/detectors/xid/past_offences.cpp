#include "rules/detectors/xid/past_offences.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>

namespace faultline {
namespace {

constexpr std::size_t kMostPastLines = 3;  // one of each job
// A kernel log goes back to earlier jobs: what both tell of so close together is one event.
constexpr std::chrono::minutes kOneEvent{3};

// The UUID that this job's lines give the GPU; empty: none does.
std::string uuid_of(const View& view, const std::string& host, const std::string& gpu) {
  std::string uuid;
  for (const Hardware::Gpu& known : view.job.hardware().gpus())
    if (known.gpu == gpu && !known.uuid.empty() &&
        view.job.host_of(known.spoken_host, known.source) == host)
      uuid = known.uuid;
  return uuid;
}

bool tells_the_same(const Suspicion& suspicion, const PastOffence& past) {
  return past.evidence.line != 0 &&
         std::ranges::find(suspicion.finding.evidence, past.evidence.text, &Evidence::text) !=
             suspicion.finding.evidence.end();
}

}  // namespace

std::vector<const PastOffence*> offences_before(const View& view, std::string_view cause,
                                                const Suspicion& suspicion) {
  std::vector<const PastOffence*> before;
  const Subject& subject = suspicion.finding.subject;
  const std::string host = subject.hosts.empty() ? "" : subject.hosts.front();
  const std::optional<Timestamp> now =
      suspicion.since.zone_assumed ? std::nullopt : suspicion.finding.last_seen;
  for (const PastOffence& past : view.moment.past_offences) {
    if (past.job == view.job.name() || past.cause != cause ||
        std::ranges::find(subject.gpus, past.gpu) == subject.gpus.end())
      continue;
    const bool is_earlier = now && past.when
                                ? *past.when + kOneEvent < *now
                                : past.found_before && !tells_the_same(suspicion, past);
    if (!is_earlier) continue;
    const std::string uuid =
        past.uuid.empty() ? "" : uuid_of(view, host, past.gpu.substr(past.gpu.find('/') + 1));
    if (!uuid.empty() && uuid != past.uuid) continue;  // another board in its place
    before.push_back(&past);
  }
  return before;
}

void add_past_lines(const std::vector<const PastOffence*>& before, Finding& finding) {
  std::set<std::string> told;
  for (auto past = before.rbegin(); past != before.rend(); ++past) {
    if ((*past)->evidence.line == 0 || told.size() >= kMostPastLines) continue;
    if (!told.insert((*past)->job).second) continue;
    Evidence evidence = (*past)->evidence;
    evidence.source = fmt::format("job {}: {}", (*past)->job, evidence.source);
    finding.evidence.push_back(std::move(evidence));
  }
}

}  // namespace faultline
