// GPUs of which the lines of one boot tell, in the order of these lines, and found by their times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/time.h"

namespace faultline {

class GpusByTime {
 public:
  void add(const std::string& gpu, const EventTime& time);
  // To be called when all are added.
  void arrange();

  // The first of those whose times are from `time` + from_us to `time` + to_us, except the GPU
  // `but`, by the finest clock that both have. Empty: there is none.
  std::string first_near(const EventTime& time, std::int64_t from_us, std::int64_t to_us,
                         const std::string& but) const;

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  // The first of some lines, and the first of another GPU.
  struct Firsts {
    std::size_t one = kNone;
    std::size_t other = kNone;
  };
  // Lines with a stamp of one clock, by time.
  struct Clock {
    std::vector<std::pair<std::int64_t, std::size_t>> lines;
    std::vector<Firsts> tree;  // node i is of nodes 2i and 2i+1; the last half is of one line each
  };

  Firsts joined(Firsts a, const Firsts& b) const;
  void arrange(Clock& clock) const;
  Firsts firsts_in(const Clock& clock, std::int64_t from, std::int64_t to) const;

  std::vector<std::string> gpus_;
  Clock uptimes_;
  Clock walls_;
  Clock walls_alone_;  // of lines without an uptime
};

}  // namespace faultline
