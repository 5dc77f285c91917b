#include "rules/detect/kernel/reboots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "rules/knowledge/ground_names.h"
#include "rules/picture/read/remark_sightings.h"
#include "rules/picture/who/kernel_part.h"
#include "rules/picture/who/torch_crew.h"
#include "rules/picture/who/workers_by.h"

namespace faultline {
namespace {

constexpr std::int64_t kSecondUs = 1'000'000;
// A host that crashed is back by then; one that was started later was started for another reason.
constexpr std::int64_t kLongestRebootUs = std::int64_t{45} * 60 * kSecondUs;

// Boots that ended in a shutdown.
using TakenDown = std::set<std::pair<const KernelLog*, std::uint64_t>>;

TakenDown taken_down(const KernelSightings& sightings) {
  TakenDown boots;
  for (const KernelSighting& sighting : sightings.all)
    if (sighting.signature->marks == Marks::maintenance_begins &&
        sighting.signature->cause == Cause::host_down)
      boots.emplace(sighting.log, sighting.text->boot);
  return boots;
}

// Uptimes of two boots have nothing to do with each other.
EventTime by_the_wall(EventTime time) {
  time.uptime_us.reset();
  return time;
}

bool was_torn_down(const View& view, const Worker& worker) {
  return std::ranges::any_of(worker.members,
                             [&](std::size_t m) { return view.member(m).left_cleanly(); });
}

// If NCCL's lines have no time stamps, an Xid that names a rank's process shows when the job ran.
class RanByXids {
 public:
  explicit RanByXids(const View& view) : view_(view) {}

  bool shortly_before(const EventTime& boot) {
    if (!read_) read();
    const auto& times = at_us_[boot.zone_assumed];
    const auto next = times.upper_bound(*boot.wall_us - kLongestRebootUs);
    return next != times.end() && *next < *boot.wall_us;
  }

 private:
  void read() {
    read_ = true;
    const WorkersBy<std::int64_t> running(view_.workers, &Worker::pid, [&](const Worker& worker) {
      return !was_torn_down(view_, worker);
    });
    for (const XidIncident& xid : view_.job.hardware().xids()) {
      const EventTime time = view_.job.dated(xid.first);
      if (!time.wall_us) continue;
      const std::string host = view_.job.host_of(xid.spoken_host, xid.source);
      if (std::ranges::any_of(xid.pids, [&](std::int64_t pid) {
            return pid != 0 && running.any_perhaps_on(host, pid, [](std::size_t) { return true; });
          }))
        at_us_[time.zone_assumed].insert(*time.wall_us);
    }
  }

  const View& view_;
  bool read_ = false;
  std::array<std::set<std::int64_t>, 2> at_us_;  // by zone_assumed
};

enum class When { while_it_ran, at_another_time, cannot_tell };

// A host as far as the job's ranks on it tell of it.
class RunningHost {
 public:
  RunningHost(const View& view, const std::string& host) : part_(whole_host(view, host)) {
    for (const std::size_t index : view.workers.on(host))
      for (const std::size_t m : view.workers.all[index].members) learn(view.member(m));
    for (Clock& clock : clocks_) std::ranges::sort(clock.shown_us);
  }

  const KernelPart& part() const { return part_; }
  bool has_rank(int rank) const { return std::ranges::binary_search(part_.subject.ranks, rank); }

  // At the time of a boot, by the wall.
  When when(const EventTime& booted) const {
    const auto tells = [&](const std::optional<EventTime>& begun) {
      return begun && order_of(*begun, booted, true) != Order::cannot_tell;
    };
    if (std::ranges::none_of(clocks_, [&](const Clock& clock) {
          return tells(clock.first_begun) || tells(clock.last_begun);
        }))
      return When::cannot_tell;
    const std::vector<std::int64_t>& shown_us = clocks_[booted.zone_assumed].shown_us;
    const auto next = std::ranges::upper_bound(shown_us, *booted.wall_us - kLongestRebootUs);
    return next != shown_us.end() && *next < *booted.wall_us ? When::while_it_ran
                                                             : When::at_another_time;
  }

 private:
  struct Clock {
    std::optional<EventTime> first_begun;  // of the ranks
    std::optional<EventTime> last_begun;
    std::vector<std::int64_t> shown_us;  // when ranks that were not torn down showed last to run
  };

  void learn(const Member& member) {
    const LineRef& first = member.init_line.known() ? member.init_line : member.last_line;
    const EventTime begun = by_the_wall(first.time);
    if (!begun.wall_us) return;
    Clock& clock = clocks_[begun.zone_assumed];
    if (!clock.first_begun || begun.wall_us < clock.first_begun->wall_us) clock.first_begun = begun;
    if (!clock.last_begun || begun.wall_us > clock.last_begun->wall_us) clock.last_begun = begun;
    const EventTime& last = member.latest_line().time;
    if (!member.left_cleanly() && last.wall_us && last.zone_assumed == begun.zone_assumed)
      clock.shown_us.push_back(std::max(*last.wall_us, *begun.wall_us));
  }

  KernelPart part_;
  std::array<Clock, 2> clocks_;  // by zone_assumed
};

class RunningHosts {
 public:
  explicit RunningHosts(const View& view) : view_(view) {}

  const RunningHost& operator[](const std::string& host) {
    const auto known = hosts_.find(host);
    return known != hosts_.end() ? known->second
                                 : hosts_.try_emplace(host, view_, host).first->second;
  }

 private:
  const View& view_;
  std::map<std::string, RunningHost> hosts_;
};

// If NCCL's lines have no date, PyTorch's may have one. Ranks of the host that print something
// after the boot were started after it. If they print nothing, and their peers wait in a call from
// before it, the reboot ended them.
class ToldByTorch {
 public:
  explicit ToldByTorch(const TorchCrew& crew) {
    for (const TorchRank* rank : crew.ranks()) {
      if (rank->rank < 0 || rank->guessed) continue;
      for (const TorchTimeout& timeout : rank->timeouts) {
        if (!crew.in_attempt(timeout.line)) continue;
        const EventTime& told = timeout.line.time;
        if (told.wall_us) {
          std::int64_t& last =
              told_us_[told.zone_assumed].try_emplace(rank->rank, *told.wall_us).first->second;
          last = std::max(last, *told.wall_us);
        }
        const EventTime called = called_at(timeout);
        if (called.wall_us) called_us_[called.zone_assumed].emplace(*called.wall_us, rank->rank);
      }
    }
  }

  When when(const RunningHost& host, const EventTime& booted) const {
    const auto& told = told_us_[booted.zone_assumed];
    for (const int rank : host.part().subject.ranks)
      if (const auto last = told.find(rank); last != told.end() && last->second > *booted.wall_us)
        return When::at_another_time;
    const auto& called = called_us_[booted.zone_assumed];
    for (auto call = called.upper_bound({*booted.wall_us - kLongestRebootUs, INT_MAX});
         call != called.end() && call->first < *booted.wall_us; ++call)
      if (!host.has_rank(call->second)) return When::while_it_ran;
    return When::cannot_tell;
  }

 private:
  // By zone_assumed: when each rank last told of a timeout, and when it had called.
  std::array<std::map<int, std::int64_t>, 2> told_us_;
  std::array<std::set<std::pair<std::int64_t, int>>, 2> called_us_;
};

}  // namespace

std::vector<Suspicion> find_reboots(const View& view, const KernelSightings& sightings) {
  std::optional<ToldByTorch> torch;
  if (!view.job.torch().empty()) torch.emplace(view.crew());
  const TakenDown down = taken_down(sightings);
  RanByXids ran(view);
  RunningHosts hosts(view);
  std::vector<Suspicion> found;
  for (const KernelLog& log : view.job.kernel_lines().logs()) {
    const std::string host = view.job.host_of(log.spoken_host, log.source);
    for (std::size_t i = 0; i < log.boots.size(); ++i) {
      const KernelBoot& boot = log.boots[i];
      if (down.contains({&log, i})) continue;
      const RunningHost& running = hosts[host];
      if (running.part().standing != KernelPart::Standing::of_the_job) continue;
      const EventTime booted = view.job.dated(boot.line);
      When then = When::cannot_tell;
      if (booted.wall_us) {
        then = running.when(by_the_wall(booted));
        if (then == When::cannot_tell && ran.shortly_before(booted)) then = When::while_it_ran;
        if (then == When::cannot_tell && torch) then = torch->when(running, booted);
      }
      // Every log begins with a boot, at whatever time: that alone means nothing.
      if (then == When::at_another_time || (then == When::cannot_tell && !boot.log_goes_back))
        continue;
      Suspicion& suspicion = found.emplace_back();
      suspicion.since = booted;
      // The ranks of the host ended with it. If ranks are already behind, no other effect must be
      // shown.
      suspicion.needs_effect = then != When::while_it_ran || !somebody_is_behind(view);
      Finding& finding = suspicion.finding;
      finding.cause = Cause::host_down;
      finding.severity = Severity::critical;
      finding.subject = running.part().subject;
      finding.title = fmt::format("{} rebooted without a shutdown", host);
      suspicion.sure = Claim::host_started_anew;
      if (then != When::while_it_ran) suspicion.sure.add(Ground::time_open);
      finding.evidence.push_back(view.evidence(boot.line));
    }
  }
  return found;
}

}  // namespace faultline
