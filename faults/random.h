// Random numbers that a seed repeats on any machine: the standard's distributions differ between
// libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace faultline::faults {

// What is drawn for. Each use has numbers of its own, so that a round makes the same choices
// whether or not something was made for it first.
enum class Use : std::uint64_t { round, shared, place, remains };

class Random {
 public:
  explicit Random(std::uint64_t seed, Use use = Use::round)
      : engine_(seed + static_cast<std::uint64_t>(use) * 0x9E3779B97F4A7C15U) {}

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
