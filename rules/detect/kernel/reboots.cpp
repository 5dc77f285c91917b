#include "rules/detect/kernel/reboots.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "rules/detect/kernel/running_hosts.h"
#include "rules/knowledge/ground_names.h"
#include "rules/picture/read/remark_sightings.h"

namespace faultline {
namespace {

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

}  // namespace

std::vector<Suspicion> find_reboots(const View& view, const KernelSightings& sightings) {
  const TakenDown down = taken_down(sightings);
  RunningHosts hosts(view);
  std::vector<Suspicion> found;
  for (const KernelLog& log : view.job.kernel_lines().logs()) {
    const std::string host = view.job.host_of(log.spoken_host, log.source);
    for (std::size_t i = 0; i < log.boots.size(); ++i) {
      const KernelBoot& boot = log.boots[i];
      if (down.contains({&log, i})) continue;
      const KernelPart& part = hosts.part(host);
      if (part.standing != KernelPart::Standing::of_the_job) continue;
      const EventTime booted = view.job.dated(boot.line);
      const When then = hosts.when(host, booted);
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
