#include "rules/detect/kernel/reboots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <map>
#include <optional>
#include <set>
#include <utility>

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

  bool shortly_before(const LineRef& boot) {
    if (!read_) read();
    const EventTime begun = view_.job.dated(boot);
    if (!begun.wall_us) return false;
    const auto& times = at_us_[begun.zone_assumed];
    const auto next = times.upper_bound(*begun.wall_us - kLongestRebootUs);
    return next != times.end() && *next < *begun.wall_us;
  }

 private:
  void read() {
    read_ = true;
    for (const XidIncident& xid : view_.job.hardware().xids()) {
      const EventTime time = view_.job.dated(xid.first);
      if (time.wall_us && names_a_rank(xid)) at_us_[time.zone_assumed].insert(*time.wall_us);
    }
  }

  bool names_a_rank(const XidIncident& xid) const {
    const std::string host = view_.job.host_of(xid.spoken_host, xid.source);
    return std::ranges::any_of(xid.pids, [&](std::int64_t pid) {
      return pid != 0 && view_.by_pid().any_perhaps_on(host, pid, [&](std::size_t index) {
        return !was_torn_down(view_, view_.workers.all[index]);
      });
    });
  }

  const View& view_;
  bool read_ = false;
  std::array<std::set<std::int64_t>, 2> at_us_;  // by zone_assumed
};

enum class When { while_it_ran, at_another_time, cannot_tell };

When when(const View& view, RanByXids& ran, const std::string& host, const LineRef& boot) {
  When answer = When::cannot_tell;
  const EventTime booted = by_the_wall(view.job.dated(boot));
  for (std::size_t index : view.workers.perhaps_on(host))
    for (std::size_t m : view.workers.all[index].members) {
      const Member& member = view.member(m);
      const LineRef& first = member.init_line.known() ? member.init_line : member.last_line;
      const LineRef& last = member.latest_line();
      const Order begun = order_of(by_the_wall(first.time), booted, true);
      if (begun == Order::cannot_tell) continue;
      const auto silent = microseconds_between(by_the_wall(last.time), booted);
      if (begun == Order::before && silent && *silent > 0 && *silent < kLongestRebootUs &&
          !member.left_cleanly())
        return When::while_it_ran;
      answer = When::at_another_time;
    }
  if (answer == When::cannot_tell && ran.shortly_before(boot)) return When::while_it_ran;
  return answer;
}

// If NCCL's lines have no date, PyTorch's may have one. Ranks of the host that print something
// after the boot were started after it. If they print nothing, and their peers wait in a call from
// before it, the reboot ended them.
class ToldByTorch {
 public:
  ToldByTorch(const View& view, const TorchCrew& crew) : view_(view) {
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

  When when(const std::string& host, const LineRef& boot) const {
    const EventTime booted = view_.job.dated(boot);
    if (!booted.wall_us) return When::cannot_tell;
    const auto& told = told_us_[booted.zone_assumed];
    std::set<int> of_host;
    for (std::size_t index : view_.workers.perhaps_on(host))
      of_host.insert(view_.workers.all[index].rank);
    for (const int rank : of_host)
      if (const auto last = told.find(rank); last != told.end() && last->second > *booted.wall_us)
        return When::at_another_time;
    const auto& called = called_us_[booted.zone_assumed];
    for (auto call = called.upper_bound({*booted.wall_us - kLongestRebootUs, INT_MAX});
         call != called.end() && call->first < *booted.wall_us; ++call)
      if (!of_host.contains(call->second)) return When::while_it_ran;
    return When::cannot_tell;
  }

 private:
  const View& view_;
  // By zone_assumed: when each rank last told of a timeout, and when it had called.
  std::array<std::map<int, std::int64_t>, 2> told_us_;
  std::array<std::set<std::pair<std::int64_t, int>>, 2> called_us_;
};

}  // namespace

std::vector<Suspicion> find_reboots(const View& view, const KernelSightings& sightings) {
  std::optional<ToldByTorch> torch;
  if (!view.job.torch().empty()) torch.emplace(view, view.crew());
  const TakenDown down = taken_down(sightings);
  RanByXids ran(view);
  std::vector<Suspicion> found;
  for (const KernelLog& log : view.job.kernel_lines().logs()) {
    const std::string host = view.job.host_of(log.spoken_host, log.source);
    for (std::size_t i = 0; i < log.boots.size(); ++i) {
      const KernelBoot& boot = log.boots[i];
      if (down.contains({&log, i})) continue;
      const KernelPart part = whole_host(view, host);
      if (part.standing != KernelPart::Standing::of_the_job) continue;
      When then = when(view, ran, host, boot.line);
      if (then == When::cannot_tell && torch) then = torch->when(host, boot.line);
      // Every log begins with a boot, at whatever time: that alone means nothing.
      if (then == When::at_another_time || (then == When::cannot_tell && !boot.log_goes_back))
        continue;
      Suspicion& suspicion = found.emplace_back();
      suspicion.since = view.job.dated(boot.line);
      // The ranks of the host ended with it. If ranks are already behind, no other effect must be
      // shown.
      suspicion.needs_effect = then != When::while_it_ran || !somebody_is_behind(view);
      Finding& finding = suspicion.finding;
      finding.cause = Cause::host_down;
      finding.severity = Severity::critical;
      finding.subject = part.subject;
      finding.title = fmt::format("{} rebooted without a shutdown", host);
      suspicion.sure = Claim::host_started_anew;
      if (then != When::while_it_ran) suspicion.sure.add(Ground::time_open);
      finding.evidence.push_back(view.evidence(boot.line));
    }
  }
  return found;
}

}  // namespace faultline
