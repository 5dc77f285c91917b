#include "ingest/unwrap/saved.h"

#include <algorithm>
#include <limits>

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

int to_int(std::int64_t value) {
  return static_cast<int>(std::clamp<std::int64_t>(value, std::numeric_limits<int>::min(),
                                                   std::numeric_limits<int>::max()));
}

}  // namespace

void SavedWriter::number(std::int64_t value) {
  // Seven bits a byte, the sign in the lowest, so that small numbers are short.
  auto bits = (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
  for (; bits >= 0x80; bits >>= 7) bytes_ += static_cast<char>(0x80 | (bits & 0x7f));
  bytes_ += static_cast<char>(bits);
}

void SavedWriter::text(std::string_view value) {
  number(static_cast<std::int64_t>(value.size()));
  bytes_ += value;
}

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

void SavedReader::fail() {
  ok_ = false;
  rest_ = {};
}

std::int64_t SavedReader::number() {
  std::uint64_t bits = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) break;
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    bits |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80)
      return static_cast<std::int64_t>(bits >> 1) ^ -static_cast<std::int64_t>(bits & 1);
  }
  fail();
  return 0;
}

std::string_view SavedReader::text() {
  const std::int64_t size = number();
  if (size < 0 || static_cast<std::uint64_t>(size) > rest_.size()) fail();
  if (!ok_) return {};
  const std::string_view value = rest_.substr(0, static_cast<std::size_t>(size));
  rest_.remove_prefix(value.size());
  return value;
}

Peeled SavedReader::peeled() {
  Peeled value;
  const std::int64_t flags = number();
  value.host_is_label = (flags & kHostIsLabel) != 0;
  value.from_user_space = (flags & kFromUserSpace) != 0;
  value.in_kernel = (flags & kInKernel) != 0;
  value.labelled = (flags & kLabelled) != 0;
  value.host = text();
  value.rank = to_int(number());
  value.repeated = std::max(1, to_int(number()));
  value.time.zone_assumed = (flags & kZoneAssumed) != 0;
  value.time.uncertainty_us = number();
  if ((flags & kHasWall) != 0) value.time.wall_us = number();
  if ((flags & kHasUptime) != 0) value.time.uptime_us = number();
  return value;
}

}  // namespace faultline
