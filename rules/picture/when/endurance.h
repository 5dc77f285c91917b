// How long ranks went on. A rank that still did something long after a fault outlived it.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "model/time.h"

namespace faultline {

// What one rank outlived: all that was before these times, by the clocks of its lines.
struct Outlived {
  static constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::min();

  // It did something at this time, so it outlived what was more than `us` before.
  void learn(const EventTime& time, std::int64_t us);

  std::int64_t uptime_us = kNothing;
  std::array<std::int64_t, 2> wall_us{kNothing, kNothing};  // by zone_assumed
  // By lines without an uptime: of two clocks that lines share, only the uptime counts.
  std::array<std::int64_t, 2> wall_alone_us{kNothing, kNothing};
};

class Endurance {
 public:
  Endurance() = default;
  explicit Endurance(std::vector<Outlived> ranks);

  // Whether there are ranks, and all of them outlived what was at this time.
  bool outlives(const EventTime& time) const;

 private:
  struct Least {
    std::int64_t uptime_us = Outlived::kNothing;
    std::array<std::int64_t, 2> wall_alone_us;  // of the ranks up to this uptime
  };

  bool any_ = false;
  std::int64_t uptime_us_ = Outlived::kNothing;
  std::array<std::int64_t, 2> wall_us_{Outlived::kNothing, Outlived::kNothing};
  // By uptime, rising; only where a rank lowers one of the others. Copies share it.
  std::shared_ptr<const std::vector<Least>> least_;
};

}  // namespace faultline
