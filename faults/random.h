// Random numbers that a seed repeats on any machine: the standard's distributions differ between
// libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace faultline::faults {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // From `least` to `most`, both included.
  std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    return least + engine_() % (most - least + 1);
  }
  bool one_in(std::uint64_t count) { return between(1, count) == 1; }
  template <class Range>
  const auto& one_of(const Range& choices) {
    return *(std::begin(choices) + static_cast<std::ptrdiff_t>(between(0, std::size(choices) - 1)));
  }
  std::uint64_t seed() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace faultline::faults
