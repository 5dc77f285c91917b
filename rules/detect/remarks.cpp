#include "rules/detect/remarks.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "rules/detect/placed.h"
#include "rules/detect/remarks/aftermath.h"
#include "rules/detect/remarks/ends.h"
#include "rules/detect/remarks/parts.h"
#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

constexpr std::size_t kMostExcused = 8;

bool blames_an_end(const Sighting& sighting) {
  if (!sighting.field("rank_a").empty()) return false;  // the line names ranks itself
  return sighting.signature->blames == Blames::peer || sighting.signature->blames == Blames::pair;
}

// By what it found: hosts of which the kernel said so; empty: of a host that is not known.
using ToldByKernels = std::map<Cause, std::set<std::string>>;

ToldByKernels told_by_kernels(const View& view) {
  ToldByKernels told;
  for (const XidIncident& incident : view.job.hardware().xids())
    if (const XidMeaning* meaning = view.catalog.xid(incident.code))
      told[meaning->cause].insert(view.job.host_of(incident.spoken_host, incident.source));
  return told;
}

// Whether the host's kernel reported such a fault: it knows the GPU, and NCCL only notices the
// effect.
bool kernel_told(const ToldByKernels& told, const Finding& finding) {
  const auto hosts = told.find(finding.cause);
  return hosts != told.end() &&
         (hosts->second.contains("") ||
          std::ranges::any_of(finding.subject.hosts, [&](const std::string& host) {
            return hosts->second.contains(host);
          }));
}

void leave_gpus_to_the_kernel(const View& view, std::vector<Suspicion>& found) {
  const ToldByKernels told = told_by_kernels(view);
  for (Suspicion& suspicion : found) {
    if (!is_of(suspicion.finding.cause, Family::gpu) || !kernel_told(told, suspicion.finding))
      continue;
    suspicion.finding.cause = Cause::nccl_error;
    suspicion.stops_job = true;
  }
}

std::vector<Suspicion> suspect(const View& view, const std::vector<Sighting>& causes,
                               const std::vector<Sighting>& told) {
  SightingList parts;
  SightingList ends;
  for (const Sighting& sighting : causes)
    (blames_an_end(sighting) ? ends : parts).push_back(&sighting);
  std::vector<Suspicion> found = suspect_parts(view, parts);
  const std::vector<Suspicion> of_ends = suspect_ends(view, ends, told);
  found.insert(found.end(), of_ends.begin(), of_ends.end());
  return found;
}

// Of two known times: whether the span that its stamp can mean ends earlier.
bool ends_before(const EventTime& a, const EventTime& b) {
  const auto end_of = [](const EventTime& time) {
    return *time.wall_us + std::max<std::int64_t>(time.uncertainty_us, 1);
  };
  return end_of(a) < end_of(b);
}

bool is_failure(const Suspicion& suspicion) {
  return suspicion.finding.severity >= Severity::error;
}

// A warning about a configuration says that it is slow; about hardware, that it may fail one day.
void soften_warnings(std::vector<Suspicion>& found) {
  for (Suspicion& suspicion : found) {
    const Cause cause = suspicion.finding.cause;
    if (suspicion.finding.severity == Severity::warning &&
        !is_of(cause, {Family::config, Family::performance}))
      suspicion.verdict = Verdict::healthy;
  }
}

void trust_later_ones_less(std::vector<Suspicion>& found) {
  // The first of those with a zone, and of those without: what any of them lies before, this one
  // does.
  std::array<std::optional<EventTime>, 2> first;
  for (const Suspicion& suspicion : found) {
    if (!is_failure(suspicion) || !suspicion.since.known()) continue;
    std::optional<EventTime>& known = first[suspicion.since.zone_assumed ? 1 : 0];
    if (!known || ends_before(suspicion.since, *known)) known = suspicion.since;
  }
  for (Suspicion& suspicion : found)
    if (is_failure(suspicion) && std::ranges::any_of(first, [&](const auto& time) {
          return time && order_of(*time, suspicion.since, false) == Order::before;
        }))
      suspicion.sure.add(Ground::later_failure);
}

}  // namespace

std::vector<Suspicion> find_remarks(const View& view) {
  const Sightings sightings = sightings_of(view);
  std::vector<Suspicion> found = suspect(view, sightings.causes, sightings.told);
  leave_gpus_to_the_kernel(view, found);
  soften_warnings(found);
  trust_later_ones_less(found);
  const bool failed = std::ranges::any_of(found, is_failure);

  std::vector<Suspicion> excused = suspect(view, sightings.excused, sightings.told);
  if (excused.size() > kMostExcused) excused.resize(kMostExcused);
  for (Suspicion& suspicion : excused) {
    suspicion.verdict = Verdict::healthy;
    suspicion.finding.severity = std::min(suspicion.finding.severity, Severity::warning);
    found.push_back(std::move(suspicion));
  }
  const std::vector<Suspicion> aftermath = find_aftermath(view, sightings, failed);
  found.insert(found.end(), aftermath.begin(), aftermath.end());
  spare_what_its_log_takes_back(view, found);
  return found;
}

}  // namespace faultline
