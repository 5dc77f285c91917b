#include "ingest/unwrap/peeled.h"

#include <algorithm>

namespace faultline {

namespace {

// A collector reads a line this long after it was written, if it follows the log live.
constexpr std::int64_t kCollectorLagUs = 2'000'000;

constexpr std::int64_t kMaxRepeated = 1'000'000;

// Whether the finer outer stamp is one of the instants that the inner stamp can mean.
bool confirms(const EventTime& outer, const EventTime& inner) {
  return outer.known() && !outer.zone_assumed && outer.uncertainty_us <= inner.uncertainty_us &&
         *outer.wall_us >= *inner.wall_us - kCollectorLagUs &&
         *outer.wall_us <= *inner.wall_us + inner.uncertainty_us + kCollectorLagUs;
}

}  // namespace

void Peeled::named_by_host(std::string_view name) {
  // "-" is syslog's nil, and every host calls itself localhost.
  if (name.empty() || name == "-" || name == "localhost") return;
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
}

void Peeled::repeat(std::int64_t times) {
  const std::int64_t product = std::clamp<std::int64_t>(times, 1, kMaxRepeated) * repeated;
  repeated = static_cast<int>(std::min(product, kMaxRepeated));
}

}  // namespace faultline
