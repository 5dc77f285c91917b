#include "rules/detect/live_stall.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "rules/detect/collective_stalled.h"
#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

// Whether the log of a rank still grows.
enum class LogFlow {
  writing,
  quiet,  // open, and nothing has come for long
  cut,    // its upload broke off, and has not come back for long
  ended,
};

LogFlow flow_of(const View& view, std::uint32_t index) {
  const SourceState& source = view.job.sources().at(index);
  const std::string& name = source.source.name;
  const bool open = view.moment.waiting_sources.contains(name);
  if (view.moment.live_sources.contains(name)) return LogFlow::writing;
  if (open) return LogFlow::quiet;
  if (source.end != SourceEnd::open) return LogFlow::ended;
  // A log that was just cut off may come back; so may all logs that a restart of the server cut
  // off.
  const Timestamp since = std::max(source.last_received, view.moment.watched_since);
  return view.moment.now - since >= view.moment.stall_after ? LogFlow::cut : LogFlow::writing;
}

std::string span(const View& view, Timestamp since) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(view.moment.now - since).count();
  // Rounded down to whole stretches of stall_after, so that the title does not change all the time.
  const auto step = std::max<std::int64_t>(
      1, std::chrono::duration_cast<std::chrono::seconds>(view.moment.stall_after).count());
  const auto whole = seconds / step * step;
  return whole >= 120 ? fmt::format("{} min", whole / 60) : fmt::format("{} s", whole);
}

// All ranks made the same calls, and none has called anything for long. Their logs do not show what
// they wait for.
bool stands_still(const View& view, const Alignment& alignment) {
  const Communicator& communicator = view.communicators[alignment.communicator];
  if (alignment.basis != Basis::counted || !alignment.in_step() || alignment.furthest == 0)
    return false;
  if (!communicator.are_all(alignment.members.size())) return false;
  return view.has_stopped(alignment.communicator) &&
         std::ranges::all_of(alignment.members, [&](std::size_t m) {
           const Member& member = view.member(m);
           const auto& source = view.job.sources().at(member.calls_source).source.name;
           // If logs show when calls end, collective_stalled decides instead.
           return !member.ending && !member.done_op_count &&
                  view.moment.waiting_sources.contains(source);
         });
}

// Communicators are nested; the largest one is reported.
const Alignment* largest_that_stands_still(const View& view) {
  const Alignment* largest = nullptr;
  for (const Alignment& alignment : view.alignments) {
    // If one communicator moves, the job does.
    if (alignment.furthest > 0 && !view.has_stopped(alignment.communicator)) return nullptr;
    if (!stands_still(view, alignment)) continue;
    if (largest == nullptr || alignment.members.size() > largest->members.size())
      largest = &alignment;
  }
  return largest;
}

Suspicion describe_standstill(const View& view, const Alignment& alignment) {
  const Communicator& communicator = view.communicators[alignment.communicator];
  const Progress& progress = view.job.progress();
  const Member& any = view.member(alignment.members.front());
  const Signature& call =
      progress.signature(progress.history().call_at(any.place, alignment.furthest - 1));
  Suspicion suspicion = stall_of(
      view, alignment.members, communicator.id,
      fmt::format("All {} ranks entered {} #{} of communicator {}; none has called anything for {}",
                  communicator.nranks, call.function, alignment.furthest, communicator.id,
                  span(view, view.moved[alignment.communicator])),
      Claim::live_in_step);
  suspicion.finding.severity = Severity::error;
  return suspicion;
}

// The log of one worker.
struct Log {
  std::size_t member = 0;
  LogFlow flow = LogFlow::writing;
  Timestamp last;  // when its last bytes came
};

// The logs of some workers, and whether all of them fell silent.
struct Silence {
  std::vector<std::size_t> members;
  std::size_t quiet = 0;
  std::size_t cut = 0;
  Timestamp last;

  void add(const Log& log) {
    members.push_back(log.member);
    if (log.flow == LogFlow::quiet) ++quiet;
    if (log.flow == LogFlow::cut) ++cut;
    last = std::max(last, log.last);
  }
  bool is_whole() const { return quiet + cut == members.size(); }
};

// How many logs went on for long after this silence began. If all ranks stop, late logs still go on
// for a while.
std::size_t went_on_after(const View& view, const std::vector<Log>& logs, const Silence& silence) {
  return static_cast<std::size_t>(std::ranges::count_if(
      logs, [&](const Log& log) { return log.last >= silence.last + view.moment.stall_after; }));
}

// Whether another log of the host still grows: its kernel's, or another program's.
bool writes_otherwise(const View& view, const std::string& host) {
  const std::vector<SourceState>& sources = view.job.sources().all();
  for (std::uint32_t i = 0; i < sources.size(); ++i)
    if (view.job.sources().host_of(i) == host && flow_of(view, i) == LogFlow::writing) return true;
  return false;
}

Suspicion describe_silence(const View& view, const Silence& silence, const std::string& host) {
  const bool all_of_host = !host.empty();
  Suspicion suspicion;
  suspicion.stops_job = true;
  suspicion.verdict = Verdict::unknown;
  suspicion.since = view.member(silence.members.front()).last_line.time;
  Finding& finding = suspicion.finding;
  finding.cause = all_of_host ? Cause::host_down : Cause::process_silent;
  finding.title =
      all_of_host
          ? fmt::format("Nothing has come from {} for {}, while the other hosts' logs are open",
                        host, span(view, silence.last))
          : fmt::format("{} has written nothing for {}, while its peers write",
                        people_of(view, silence.members), span(view, silence.last));
  finding.severity = all_of_host ? Severity::error : Severity::warning;
  suspicion.sure = all_of_host ? Claim::live_host_gone : Claim::live_silent;
  finding.subject = subject_of(view, silence.members);
  if (all_of_host) finding.subject.gpus.clear();
  finding.last_seen = silence.last;
  add_last_lines(view, silence.members, finding);
  return suspicion;
}

std::vector<Log> logs_of(const View& view) {
  std::vector<Log> logs;
  for (const Worker& worker : view.workers.all) {
    if (worker.members.empty()) continue;
    if (std::ranges::any_of(worker.members,
                            [&](std::size_t m) { return view.member(m).ending.has_value(); }))
      continue;
    // Several copies of a source may hold the same rank: the one with most of its calls counts.
    std::size_t telling = worker.members.front();
    for (const std::size_t m : worker.members)
      if (view.member(m).calls > view.member(telling).calls) telling = m;
    const std::uint32_t source = view.log_of(telling);
    logs.push_back({telling, flow_of(view, source), view.job.sources().at(source).last_received});
  }
  return logs;
}

void find_silence(const View& view, std::vector<Suspicion>& found) {
  const std::vector<Log> logs = logs_of(view);
  std::map<std::string, Silence> hosts;
  for (const Log& log : logs)
    if (const std::string& host = view.worker_of(log.member).host; !host.empty())
      hosts[host].add(log);
  const auto is_open = [](const Log& log) {
    return log.flow == LogFlow::writing || log.flow == LogFlow::quiet;
  };
  const auto open = static_cast<std::size_t>(std::ranges::count_if(logs, is_open));

  std::set<std::string> gone;
  for (const auto& [host, silence] : hosts) {
    const std::size_t others = logs.size() - silence.members.size();
    if (others == 0 || !silence.is_whole()) continue;
    const bool cut_off = silence.cut == silence.members.size() && open == others;
    const bool fell_silent = hosts.size() > 2 && 2 * went_on_after(view, logs, silence) > others;
    if ((!cut_off && !fell_silent) || writes_otherwise(view, host)) continue;
    gone.insert(host);
    found.push_back(describe_silence(view, silence, host));
  }
  for (const Log& log : logs) {
    if (log.flow != LogFlow::quiet || gone.contains(view.worker_of(log.member).host)) continue;
    Silence silence;
    silence.add(log);
    // If only some ranks print, as is usual outside of calls, the silence of a rank means nothing.
    if (4 * went_on_after(view, logs, silence) >= 3 * logs.size())
      found.push_back(describe_silence(view, silence, ""));
  }
}

}  // namespace

std::vector<Suspicion> find_live_stalls(const View& view) {
  std::vector<Suspicion> found;
  if (view.moment.stall_after.count() == 0) return found;
  if (const Alignment* still = largest_that_stands_still(view))
    found.push_back(describe_standstill(view, *still));
  find_silence(view, found);
  return found;
}

}  // namespace faultline
