#include "ingest/unwrap/peeled.h"

#include <algorithm>
#include <cstdlib>

#include "model/host_name.h"

namespace faultline {

namespace {

// A collector reads a line this long after it was written, if it follows the log live.
constexpr std::int64_t kCollectorLagUs = 2'000'000;

constexpr std::int64_t kMaxRepeated = 1'000'000;

// Zones differ by quarters of an hour, and by no more than this from UTC.
constexpr std::int64_t kZoneStepUs = std::int64_t{15} * 60 * 1'000'000;
constexpr std::int64_t kMaxZoneUs = std::int64_t{14} * 3600 * 1'000'000;

// A coarser stamp would agree with some zone too easily.
constexpr std::int64_t kFineEnoughToFindZoneUs = 1'000'000;

// How much later the outer stamp is, once the inner one is read in the zone that brings them
// nearest.
std::int64_t lag(const EventTime& outer, const EventTime& inner) {
  const std::int64_t later = *outer.wall_us - *inner.wall_us;
  if (!inner.zone_assumed || inner.uncertainty_us > kFineEnoughToFindZoneUs) return later;
  const std::int64_t half = later < 0 ? -kZoneStepUs / 2 : kZoneStepUs / 2;
  const std::int64_t zone = (later + half) / kZoneStepUs * kZoneStepUs;
  return std::abs(zone) <= kMaxZoneUs ? later - zone : later;
}

// Whether the finer outer stamp is one of the instants that the inner stamp can mean.
bool confirms(const EventTime& outer, const EventTime& inner) {
  if (!outer.known() || outer.zone_assumed || outer.uncertainty_us > inner.uncertainty_us)
    return false;
  const std::int64_t later = lag(outer, inner);
  return later >= -kCollectorLagUs && later <= inner.uncertainty_us + kCollectorLagUs;
}

}  // namespace

void Peeled::named_by_host(std::string_view name) {
  if (!names_a_host(name)) return;
  host = name;
  host_is_label = false;
}

void Peeled::named_by_label(std::string_view name) {
  if (name.empty() || (!host.empty() && !host_is_label)) return;
  host = name;
  host_is_label = true;
}

void Peeled::stamped(const EventTime& stamp) {
  if (stamp.uptime_us) time.uptime_us = stamp.uptime_us;
  // An old log that is printed today carries today's stamp outside, so the inner one counts, unless
  // the outer one only says the same more exactly.
  if (!stamp.known() || confirms(time, stamp)) return;
  time.wall_us = stamp.wall_us;
  time.uncertainty_us = stamp.uncertainty_us;
  time.zone_assumed = stamp.zone_assumed;
  year_assumed = false;
}

void Peeled::stamped_without_year(const EventTime& stamp) {
  const EventTime before = time;
  stamped(stamp);
  year_assumed = year_assumed || time != before;
}

void Peeled::repeat(std::int64_t times) {
  const std::int64_t product = std::clamp<std::int64_t>(times, 1, kMaxRepeated) * repeated;
  repeated = static_cast<int>(std::min(product, kMaxRepeated));
}

}  // namespace faultline
