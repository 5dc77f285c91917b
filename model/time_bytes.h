// Times in few bytes.
#pragma once

#include "model/bytes.h"
#include "model/time.h"

namespace faultline {

inline void write_time(const EventTime& time, ByteWriter& out) {
  out.byte(static_cast<std::uint8_t>((time.wall_us ? 1 : 0) | (time.uptime_us ? 2 : 0) |
                                     (time.zone_assumed ? 4 : 0)));
  if (time.wall_us) out.signed_number(*time.wall_us);
  if (time.uptime_us) out.signed_number(*time.uptime_us);
  out.signed_number(time.uncertainty_us);
}

inline EventTime read_time(ByteReader& in) {
  EventTime time;
  const std::uint8_t has = in.byte();
  time.zone_assumed = (has & 4) != 0;
  if (has & 1) time.wall_us = in.signed_number();
  if (has & 2) time.uptime_us = in.signed_number();
  time.uncertainty_us = in.signed_number();
  return time;
}

}  // namespace faultline
