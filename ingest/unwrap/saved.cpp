#include "ingest/unwrap/saved.h"

#include <algorithm>

namespace faultline {

namespace {

enum Flags : std::int64_t {
  kHostIsLabel = 1,
  kFromUserSpace = 2,
  kInKernel = 4,
  kLabelled = 8,
  kZoneAssumed = 16,
  kHasWall = 32,
  kHasUptime = 64,
};

}  // namespace

void SavedWriter::peeled(const Peeled& value) {
  std::int64_t flags = 0;
  if (value.host_is_label) flags |= kHostIsLabel;
  if (value.from_user_space) flags |= kFromUserSpace;
  if (value.in_kernel) flags |= kInKernel;
  if (value.labelled) flags |= kLabelled;
  if (value.time.zone_assumed) flags |= kZoneAssumed;
  if (value.time.wall_us) flags |= kHasWall;
  if (value.time.uptime_us) flags |= kHasUptime;
  number(flags);
  text(value.host);
  number(value.rank);
  number(value.repeated);
  number(value.time.uncertainty_us);
  if (value.time.wall_us) number(*value.time.wall_us);
  if (value.time.uptime_us) number(*value.time.uptime_us);
}

Peeled SavedReader::peeled() {
  Peeled value;
  const std::int64_t flags = number();
  value.host_is_label = (flags & kHostIsLabel) != 0;
  value.from_user_space = (flags & kFromUserSpace) != 0;
  value.in_kernel = (flags & kInKernel) != 0;
  value.labelled = (flags & kLabelled) != 0;
  value.host = text();
  value.rank = small_number();
  value.repeated = std::max(1, small_number());
  value.time.zone_assumed = (flags & kZoneAssumed) != 0;
  value.time.uncertainty_us = number();
  if ((flags & kHasWall) != 0) value.time.wall_us = number();
  if ((flags & kHasUptime) != 0) value.time.uptime_us = number();
  return value;
}

}  // namespace faultline
