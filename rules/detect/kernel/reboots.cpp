#include "rules/detect/kernel/reboots.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rules/knowledge/ground_names.h"
#include "rules/picture/read/remark_sightings.h"
#include "rules/picture/who/kernel_part.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {
namespace {

constexpr std::int64_t kSecondUs = 1'000'000;
// A host that crashed is back by then; one that was started later was started for another reason.
constexpr std::int64_t kLongestRebootUs = std::int64_t{45} * 60 * kSecondUs;

bool was_taken_down(const KernelSightings& sightings, const KernelLog& log, std::uint64_t boot) {
  return std::ranges::any_of(sightings.all, [&](const KernelSighting& sighting) {
    return sighting.log == &log && sighting.text->boot == boot &&
           sighting.signature->marks == Marks::maintenance_begins &&
           sighting.signature->cause == Cause::host_down;
  });
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
bool ran_shortly_before(const View& view, const LineRef& boot) {
  const EventTime begun = by_the_wall(view.job.dated(boot));
  return std::ranges::any_of(view.job.hardware().xids(), [&](const XidIncident& xid) {
    const auto passed = microseconds_between(by_the_wall(view.job.dated(xid.first)), begun);
    if (!passed || *passed <= 0 || *passed >= kLongestRebootUs) return false;
    const std::string host = view.job.host_of(xid.spoken_host, xid.source);
    return std::ranges::any_of(view.workers.perhaps_on(host), [&](std::size_t index) {
      const Worker& worker = view.workers.all[index];
      return worker.pid != 0 && xid.pids.contains(worker.pid) && !was_torn_down(view, worker);
    });
  });
}

enum class When { while_it_ran, at_another_time, cannot_tell };

When when(const View& view, const std::string& host, const LineRef& boot) {
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
  if (answer == When::cannot_tell && ran_shortly_before(view, boot)) return When::while_it_ran;
  return answer;
}

// If NCCL's lines have no date, PyTorch's may have one. Ranks of the host that print something
// after the boot were started after it. If they print nothing, and their peers wait in a call from
// before it, the reboot ended them.
When by_torch(const View& view, const TorchCrew& crew, const std::string& host,
              const LineRef& boot) {
  std::set<int> of_host;
  for (std::size_t index : view.workers.perhaps_on(host))
    of_host.insert(view.workers.all[index].rank);
  const auto passed = [&](const EventTime& time) {
    return microseconds_between(by_the_wall(time), by_the_wall(view.job.dated(boot)));
  };
  When answer = When::cannot_tell;
  for (const TorchRank* rank : crew.ranks()) {
    if (rank->rank < 0 || rank->guessed) continue;
    for (const TorchTimeout& timeout : rank->timeouts) {
      if (!crew.in_attempt(timeout.line)) continue;
      if (of_host.contains(rank->rank)) {
        if (const auto silent = passed(timeout.line.time); silent && *silent < 0)
          return When::at_another_time;
      } else if (const auto waited = passed(called_at(timeout));
                 waited && *waited > 0 && *waited < kLongestRebootUs) {
        answer = When::while_it_ran;
      }
    }
  }
  return answer;
}

}  // namespace

std::vector<Suspicion> find_reboots(const View& view, const KernelSightings& sightings) {
  const TorchCrew* crew = view.job.torch().empty() ? nullptr : &view.crew();
  std::vector<Suspicion> found;
  for (const KernelLog& log : view.job.kernel_lines().logs()) {
    const std::string host = view.job.host_of(log.spoken_host, log.source);
    for (std::size_t i = 0; i < log.boots.size(); ++i) {
      const KernelBoot& boot = log.boots[i];
      if (was_taken_down(sightings, log, i)) continue;
      const KernelPart part = whole_host(view, host);
      if (part.standing != KernelPart::Standing::of_the_job) continue;
      When then = when(view, host, boot.line);
      if (then == When::cannot_tell && crew != nullptr)
        then = by_torch(view, *crew, host, boot.line);
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
