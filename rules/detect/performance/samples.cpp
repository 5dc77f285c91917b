// Findings from what scripts sample of the ranks (barrier times, GPU use), and from what ps says of
// their processes.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "rules/detect/parts/facts.h"
#include "rules/detect/performance/measured.h"
#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

struct BarrierTime {
  int rank = -1;
  double ms = 0;
  const PartRecord* record = nullptr;
};

// A rank that takes far longer than all others did something else before it arrived: if it had only
// waited, all others would have come late together. A rank that takes far less came last, and the
// others waited for it.
void suspect_times(const View& view, const std::vector<BarrierTime>& times,
                   std::vector<Suspicion>& found) {
  const auto& rules = view.catalog.performance.straggler;
  std::vector<double> all;
  for (const BarrierTime& time : times) all.push_back(time.ms);
  const double usual = median(all);
  if (times.size() < 3 || usual <= 0) return;
  std::vector<const BarrierTime*> odd;
  std::size_t alike = 0;
  for (const BarrierTime& time : times) {
    const double ratio = time.ms / usual;
    if (ratio >= rules.barrier_above || ratio <= rules.barrier_below)
      odd.push_back(&time);
    else if (ratio >= 1 - rules.alike && ratio <= 1 + rules.alike)
      ++alike;
  }
  if (odd.empty() || odd.size() + alike < times.size() || 4 * odd.size() > times.size() + 3) return;
  for (const BarrierTime* time : odd)
    found.push_back(late_rank(
        view, *time->record, time->rank,
        time->ms > usual
            ? fmt::format("Rank {} takes {:.1f} times as long as the others for a barrier",
                          time->rank, time->ms / usual)
            : fmt::format("Rank {} comes last to a barrier; the others wait in it {:.1f} times as "
                          "long",
                          time->rank, usual / std::max(time->ms, usual / 1000)),
        odd.size() == 1 ? Claim::samples_barrier : Claim::samples_several));
}

// The ranks that a report names; none if there are more than a few, as these are no stragglers.
std::vector<int> named_ranks(const View& view, const PartRecord& record) {
  constexpr std::size_t kMost = 4;
  const std::string named = text_in(view, record, "ranks");
  std::vector<int> ranks;
  for (std::string_view rest = named; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (const auto rank = leading_number(rest.substr(0, comma)); rank && *rank >= 0 && *rank < 1e7)
      ranks.push_back(static_cast<int>(*rank));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return ranks.size() > kMost ? std::vector<int>() : ranks;
}

// "Straggler ranks detected: [3]", for ranks whose times are not known.
void suspect_named(const View& view, const PartRecord& record, const std::set<int>& timed,
                   std::vector<Suspicion>& found) {
  for (const int rank : named_ranks(view, record))
    if (!timed.contains(rank))
      found.push_back(late_rank(view, record, rank,
                                fmt::format("The job's own report calls rank {} a straggler", rank),
                                Claim::samples_script));
}

// These times are of kernels in which no rank waits, so a rank that is slow here is slow itself.
void suspect_slow_gpus(const View& view, const PartRecord& record, std::vector<Suspicion>& found) {
  for (const int rank : named_ranks(view, record))
    found.push_back(late_rank(
        view, record, rank,
        fmt::format("Rank {}'s kernels take far longer than those of other ranks, or than "
                    "before, by the job's own report",
                    rank),
        Claim::samples_kernels));
}

struct Work {
  int rank = -1;
  const PartRecord* record = nullptr;
  double use = -1;      // of the GPU, in the latest sample; -1: not known
  double idle_for = 0;  // seconds
  const LineRef* idle_since = nullptr;
};

Work work_of(const View& view, const PartRecord& record) {
  const auto& rules = view.catalog.performance.idle_gpu;
  Work work{.rank = rank_of(view, record), .record = &record};
  const PartSeries* series = view.job.parts().find(record, "gpu util");
  if (series == nullptr) return work;
  work.use = leading_number(series->last().value).value_or(-1);
  const auto until = series->last().line->time.wall();
  for (auto sample = series->samples.rbegin(); sample != series->samples.rend(); ++sample) {
    if (leading_number(sample->value).value_or(100) > rules.idle) break;
    work.idle_since = sample->line.get();
    if (const auto since = sample->line->time.wall(); since && until)
      work.idle_for = std::chrono::duration<double>(*until - *since).count();
  }
  return work;
}

}  // namespace

Suspicion late_rank(const View& view, const PartRecord& record, int rank, std::string title,
                    Claim claim) {
  Suspicion suspicion = slow_suspicion(view, record, Cause::software_straggler, claim);
  suspicion.finding.title = std::move(title);
  lay_on_rank(view, rank, suspicion.finding);
  suspicion.finding.actions = {
      {.what = "Compare its step times and computing times with those of other ranks: a long "
               "time in a barrier may mean that the rank waits for another one.",
       .where =
           suspicion.finding.subject.hosts.empty() ? "" : suspicion.finding.subject.hosts.front(),
       .command = "nvidia-smi -q -d CLOCK,PERFORMANCE; py-spy dump --pid {pid}"}};
  return suspicion;
}

std::vector<Suspicion> suspect_barrier_times(const View& view) {
  std::vector<Suspicion> found;
  std::map<int, BarrierTime> latest;
  std::set<int> timed;
  for (const PartRecord& record : view.job.parts().records()) {
    if (record.tool != "straggler-report" || record.kind != "rank") continue;
    const int rank = rank_of(view, record);
    const auto ms = number_in(view, record, "barrier ms");
    if (rank < 0 || !ms) continue;
    latest.insert_or_assign(rank, BarrierTime{rank, *ms, &record});
    timed.insert(rank);
  }
  std::vector<BarrierTime> times;
  for (const auto& [rank, time] : latest) times.push_back(time);
  suspect_times(view, times, found);
  for (const PartRecord& record : view.job.parts().records()) {
    if (record.tool != "straggler-report") continue;
    if (record.kind == "job") suspect_named(view, record, timed, found);
    if (record.kind == "gpus") suspect_slow_gpus(view, record, found);
  }
  return found;
}

std::vector<Suspicion> suspect_idle_gpus(const View& view) {
  const auto& rules = view.catalog.performance.idle_gpu;
  std::map<int, Work> by_rank;
  for (const PartRecord& record : view.job.parts().records())
    if (record.tool == "gpu-watchdog")
      if (Work work = work_of(view, record); work.rank >= 0 && work.use >= 0)
        by_rank.insert_or_assign(work.rank, work);
  std::vector<const Work*> idle;
  for (const auto& [rank, work] : by_rank) {
    if (work.use >= rules.busy) continue;
    const bool holds_memory =
        number_in(view, *work.record, "memory used MiB").value_or(0) >= rules.least_memory_mib;
    if (work.idle_since == nullptr || work.idle_for < rules.seconds || !holds_memory) return {};
    idle.push_back(&work);
  }
  if (idle.empty() || idle.size() * 2 >= by_rank.size()) return {};
  std::vector<Suspicion> found;
  for (const Work* work : idle) {
    Suspicion suspicion =
        slow_suspicion(view, *work->record, Cause::collective_rank_behind, Claim::samples_idle);
    suspicion.verdict = Verdict::hang;
    suspicion.stops_job = true;
    suspicion.since = work->idle_since->time;
    Finding& finding = suspicion.finding;
    finding.severity = Severity::error;
    finding.title = fmt::format(
        "Rank {}'s GPU has done nothing for {:.0f} s, while the GPUs of the other {} ranks are "
        "busy, as if they waited in a collective",
        work->rank, work->idle_for, by_rank.size() - idle.size());
    lay_on_rank(view, work->rank, finding);
    add_line(view, work->idle_since, finding);
    found.push_back(std::move(suspicion));
  }
  return found;
}

// Finds processes of the job that are zombies: they ended, and their parent has not reaped them.
std::vector<Suspicion> suspect_dead_processes(const View& view) {
  std::vector<Suspicion> found;
  for (const PartRecord& record : view.job.parts().records()) {
    if (record.tool != "ps" || !text_in(view, record, "STAT").starts_with('Z')) continue;
    const auto pid = leading_number(record.name("pid"));
    const std::string host = view.job.host_of(record.spoken_host, record.source);
    if (!pid || host.empty()) continue;
    for (const std::size_t index :
         view.workers.of_process({host, static_cast<std::int64_t>(*pid)})) {
      const Worker& worker = view.workers.all[index];
      if (worker.rank < 0) continue;
      Suspicion suspicion =
          slow_suspicion(view, record, Cause::software_rank_crashed, Claim::samples_zombie);
      suspicion.verdict = Verdict::failed;
      suspicion.job_ran_with_it = false;
      suspicion.needs_effect = true;
      suspicion.finding.severity = Severity::error;
      suspicion.finding.title = fmt::format("The process of rank {} on {} (pid {:.0f}) has ended",
                                            worker.rank, host, *pid);
      lay_on_rank(view, worker.rank, suspicion.finding);
      found.push_back(std::move(suspicion));
    }
  }
  return found;
}

}  // namespace faultline
