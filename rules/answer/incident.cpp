#include "rules/answer/incident.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>

#include "model/handover.h"
#include "rules/answer/coverage.h"
#include "rules/answer/coverage_ranks.h"
#include "rules/knowledge/advice.h"
#include "rules/knowledge/limits.h"

namespace faultline {
namespace {

constexpr std::size_t kMostEntries = 40;  // of a timeline
constexpr std::size_t kMostExcluded = 4;  // a fault of more hosts is not their own

std::optional<Timestamp> time_of(const std::optional<std::int64_t>& wall_us) {
  if (!wall_us) return std::nullopt;
  return Timestamp(std::chrono::microseconds(*wall_us));
}

bool is_about_collectives(const Finding& finding) {
  return is_of(finding.cause, {Family::collective, Family::process, Family::nccl});
}

}  // namespace

std::vector<HostCoverage> coverage_of(const View& view) {
  std::map<std::string, HostCoverage> by_host;
  const auto& sources = view.job.sources().all();
  for (std::uint32_t i = 0; i < sources.size(); ++i) {
    const std::string host = view.job.sources().host_of(i);
    HostCoverage& covered = by_host[host];
    for (const auto& [dialect, lines] : sources[i].dialects) covered.lines[dialect] += lines;
    if (const auto from = time_of(sources[i].first_wall_us))
      covered.from = std::min(covered.from.value_or(*from), *from);
    if (const auto to = time_of(sources[i].last_wall_us))
      covered.to = std::max(covered.to.value_or(*to), *to);
  }
  for (const Worker& worker : view.workers.all)
    if (worker.rank >= 0 && !worker.host.empty()) by_host[worker.host].ranks.push_back(worker.rank);
  std::vector<HostCoverage> coverage;
  for (auto& [host, covered] : by_host) {
    covered.host = host;
    std::ranges::sort(covered.ranks);
    coverage.push_back(std::move(covered));
  }
  return coverage;
}

std::vector<NextTime> next_time_of(const View& view, const Diagnosis& diagnosis) {
  constexpr std::string_view kCalls =
      "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL NCCL_DEBUG_FILE=/tmp/nccl.%h.%p";
  const bool calls = view.got_to_work() || !view.job.flight().latest().empty();
  if (diagnosis.verdict == Verdict::healthy) {
    if (calls || view.members.size() < 2) return {};
    return {{std::string(kCalls),
             "no line shows a call, so a job that hangs looks like one that runs"}};
  }
  const bool decided = !diagnosis.root_causes.empty() &&
                       diagnosis.root_causes.front().confidence >= limits::decided &&
                       !is_about_collectives(diagnosis.root_causes.front());
  if (decided) return {};
  std::vector<NextTime> next;
  if (!calls) {
    next.push_back({std::string(kCalls),
                    "no line shows which calls each rank made, so ranks cannot be compared"});
  } else if (view.lines_are_missing()) {
    next.push_back(
        {"NCCL_DEBUG_FILE=/tmp/nccl.%h.%p", "lines get lost if processes share one file or pipe"});
  }
  const bool stands = diagnosis.verdict == Verdict::hang || diagnosis.verdict == Verdict::unknown;
  if (stands && view.job.flight().latest().empty() && !dumps_are_written(view))
    next.push_back({"TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1",
                    "a Flight Recorder (with so many entries) shows which operations were started "
                    "and which completed"});
  const bool kernel_logs = std::ranges::any_of(diagnosis.coverage, [](const HostCoverage& covered) {
    return covered.lines.contains("kernel");
  });
  if (!kernel_logs)
    next.push_back({fmt::format("dmesg -w | curl -T - \"http://FAULTLINE:8686/api/v1/ingest?job={}"
                                "&host=$(hostname)\"  # on every host",
                                percent_encoded(view.job.name())),
                    "no kernel log was seen, so hardware can neither be blamed nor cleared"});
  return next;
}

std::vector<TimelineEntry> timeline_of(const Diagnosis& diagnosis) {
  std::map<std::string_view, double> ahead;
  for (const ClockOffset& offset : diagnosis.clock_offsets) ahead[offset.host] = offset.seconds;
  std::vector<TimelineEntry> timeline;
  for (const auto* findings :
       {&diagnosis.root_causes, &diagnosis.symptoms, &diagnosis.observations}) {
    for (const Finding& finding : *findings) {
      TimelineEntry entry{
          .time = finding.first_seen,
          .host = finding.subject.hosts.size() == 1 ? finding.subject.hosts.front() : std::string(),
          .what = finding.title,
          .finding = finding.id};
      if (const auto offset = ahead.find(entry.host); offset != ahead.end() && entry.time)
        *entry.time -=
            std::chrono::microseconds(static_cast<std::int64_t>(offset->second * 1'000'000));
      timeline.push_back(std::move(entry));
    }
  }
  // Causes stay before other findings of the same time, or without a time.
  std::ranges::stable_sort(timeline, {}, [](const TimelineEntry& entry) {
    return std::make_tuple(!entry.time, entry.time.value_or(Timestamp{}));
  });
  if (timeline.size() > kMostEntries) timeline.resize(kMostEntries);
  return timeline;
}

Exclusion exclusion_of(const Catalog& catalog, const std::vector<Finding>& root_causes) {
  std::set<std::string> hosts;
  for (const Finding& cause : root_causes) {
    const Advice* advice = catalog.advice_for(cause.cause);
    if (advice == nullptr || !advice->exclude_host || !cause.part_of_job) continue;
    if (cause.confidence < limits::least_to_exclude || cause.severity < Severity::error) continue;
    if (cause.subject.hosts.size() > kMostExcluded) continue;
    hosts.insert(cause.subject.hosts.begin(), cause.subject.hosts.end());
  }
  if (hosts.empty()) return {};
  std::vector<std::string> words;
  for (const std::string& host : hosts) words.push_back(shell_word(host));
  return {.hosts = {hosts.begin(), hosts.end()},
          .slurm = fmt::format("--exclude={}", fmt::join(words, ",")),
          .kubernetes = fmt::format("kubectl cordon {}", fmt::join(words, " "))};
}

}  // namespace faultline
