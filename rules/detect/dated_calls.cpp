#include "rules/detect/dated_calls.h"

#include <algorithm>

#include "rules/picture/read/kernel_sightings.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {
namespace {

// A job that stops because of something does so within this time.
constexpr std::int64_t kLongestDelayUs = 35LL * 60 * 1'000'000;

}  // namespace

DatedCalls::DatedCalls(const View& view) : view_(view) {
  if (view.job.torch().empty()) return;
  const TorchCrew crew(view);
  for (const TorchRank* rank : crew.ranks()) {
    if (rank->rank < 0 || rank->guessed) continue;
    for (const TorchTimeout& timeout : rank->timeouts) {
      const EventTime called = called_at(timeout);
      if (!called.known() || !crew.in_attempt(timeout.line)) continue;
      EventTime& last = timed_out_[rank->rank];
      if (!last.known() || *last.wall_us < *called.wall_us) last = called;
    }
  }
}

bool DatedCalls::is_long_before_calls_of(const Worker& worker, const EventTime& time) const {
  const auto is_long_before = [&](const EventTime& call) {
    const auto passed = microseconds_between(time, call);
    return passed && *passed > kLongestDelayUs;
  };
  const auto timed_out = timed_out_.find(worker.rank);
  return (timed_out != timed_out_.end() && is_long_before(timed_out->second)) ||
         std::ranges::any_of(worker.members, [&](std::size_t member) {
           return is_long_before(view_.member(member).last_line.time);
         });
}

bool DatedCalls::went_on_after(const std::string& host, const Subject& subject,
                               const EventTime& time) const {
  bool any = false;
  for (const std::size_t index : workers_of_host(view_, host)) {
    const Worker& worker = view_.workers.all[index];
    if (!subject.ranks.empty() &&
        std::ranges::find(subject.ranks, worker.rank) == subject.ranks.end())
      continue;
    if (!is_long_before_calls_of(worker, time)) return false;
    any = true;
  }
  return any;
}

bool is_long_before_processes(const View& view, const EventTime& time) {
  constexpr std::int64_t kLongUs = 60LL * 60 * 1'000'000;
  bool before = false;
  for (const ProcessSeen& seen : view.job.processes().all()) {
    if (!view.in_attempt(seen.process)) continue;
    const auto passed = microseconds_between(time, seen.first.time);
    if (passed && *passed <= kLongUs) return false;
    before |= passed.has_value();
  }
  return before;
}

void say_that_the_job_went_on(Suspicion& suspicion) {
  suspicion.finding.title += ", long before the job's last calls";
  suspicion.finding.severity = std::min(suspicion.finding.severity, Severity::warning);
  suspicion.verdict = Verdict::healthy;
  suspicion.stops_job = false;
}

}  // namespace faultline
