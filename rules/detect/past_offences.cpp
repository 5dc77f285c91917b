#include "rules/detect/past_offences.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>

#include "rules/knowledge/prose.h"

namespace faultline {
namespace {

constexpr std::size_t kMostPastLines = 3;  // one of each job
// A kernel log goes back to earlier jobs: findings of both jobs this close together are one event.
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

// When the suspicion was last seen; nullopt: not known.
std::optional<Timestamp> time_of(const Suspicion& suspicion) {
  if (suspicion.since.zone_assumed) return std::nullopt;
  return suspicion.finding.last_seen ? suspicion.finding.last_seen : suspicion.since.wall();
}

// The parts that the finding names: its GPUs, else its ports, else its hosts.
const std::vector<std::string>& parts_of(const Subject& subject) {
  if (!subject.gpus.empty()) return subject.gpus;
  return subject.nics.empty() ? subject.hosts : subject.nics;
}

std::string_view word_for_part(const Subject& subject) {
  if (!subject.gpus.empty()) return "GPU";
  return subject.nics.empty() ? "host" : "port";
}

// " within 10 days"; empty: the times are not known.
std::string within(const std::vector<const PastOffence*>& before, const Suspicion& suspicion) {
  std::optional<Timestamp> first;
  for (const PastOffence* past : before)
    if (past->when && (!first || *past->when < *first)) first = past->when;
  const std::optional<Timestamp> now = time_of(suspicion);
  if (!first || !now || *now <= *first) return {};
  const auto days = std::chrono::ceil<std::chrono::days>(*now - *first).count();
  return days == 1 ? std::string(" within a day") : fmt::format(" within {} days", days);
}

// Faults of programs do not count: they say nothing about the GPU.
bool is_fault_of_a_machine(const Suspicion& suspicion) {
  const Finding& finding = suspicion.finding;
  return finding.part_of_job && is(finding.cause, Trait::of_a_machine) &&
         !is_of(finding.cause, Family::software) && suspicion.verdict != Verdict::healthy;
}

}  // namespace

std::vector<const PastOffence*> offences_before(const View& view, Cause cause,
                                                const Suspicion& suspicion) {
  std::vector<const PastOffence*> before;
  const Subject& subject = suspicion.finding.subject;
  const std::vector<std::string>& parts = parts_of(subject);
  const std::string host = subject.hosts.empty() ? "" : subject.hosts.front();
  const std::optional<Timestamp> now = time_of(suspicion);
  for (const PastOffence& past : view.moment.past_offences) {
    if (past.job == view.job.name() || past.cause != cause ||
        std::ranges::find(parts, past.part) == parts.end())
      continue;
    const bool is_earlier = now && past.when
                                ? *past.when + kOneEvent < *now
                                : past.found_before && !tells_the_same(suspicion, past);
    if (!is_earlier) continue;
    const std::string uuid =
        past.uuid.empty() ? "" : uuid_of(view, host, past.part.substr(past.part.find('/') + 1));
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

std::set<std::string> jobs_of(const std::vector<const PastOffence*>& offences) {
  std::set<std::string> jobs;
  for (const PastOffence* past : offences) jobs.insert(past->job);
  return jobs;
}

std::string program_in(std::string_view line) {
  constexpr std::string_view kName = " name=";
  const std::size_t at = line.find(kName);
  if (at == line.npos) return {};
  line.remove_prefix(at + kName.size());
  const std::string_view name = line.substr(0, line.find_first_of(", \n"));
  return name.find_first_of("<'") == name.npos ? std::string(name) : std::string();
}

void tell_past_offences(const View& view, std::vector<Suspicion>& found) {
  for (Suspicion& suspicion : found) {
    Finding& finding = suspicion.finding;
    if (!is_fault_of_a_machine(suspicion)) continue;
    const std::vector<const PastOffence*> before = offences_before(view, finding.cause, suspicion);
    const std::size_t jobs = jobs_of(before).size();
    if (jobs == 0) continue;
    const std::string_view part = word_for_part(finding.subject);
    const std::string earlier = counted(jobs, "earlier job");
    finding.title += fmt::format("; this {} failed {} in the same way{}", part, earlier,
                                 within(before, suspicion));
    add_past_lines(before, finding);
    finding.actions.insert(
        finding.actions.begin(),
        {.what = fmt::format("Keep this {} out of scheduling until diagnostics pass: it failed {} "
                             "in the same way.",
                             part, earlier),
         .where = finding.subject.hosts.empty() ? "" : finding.subject.hosts.front()});
  }
}

}  // namespace faultline
