// Random numbers without a state: the same arguments give the same number, in any order of calls.
#pragma once

#include <concepts>
#include <cstdint>

namespace faultline::simulation {

// SplitMix64's finaliser.
constexpr std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

template <std::integral... Keys>
constexpr std::uint64_t chance(std::uint64_t seed, Keys... keys) {
  std::uint64_t value = mixed(seed);
  ((value = mixed(value ^ static_cast<std::uint64_t>(keys))), ...);
  return value;
}

// A stream of numbers; not std::, whose distributions differ between libraries.
class Chance {
 public:
  explicit constexpr Chance(std::uint64_t seed) : state_(mixed(seed)) {}
  constexpr std::uint64_t next() { return state_ = mixed(state_); }
  constexpr std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  constexpr int index(int limit) {
    return static_cast<int>(below(static_cast<std::uint64_t>(limit)));
  }
  constexpr double fraction() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace faultline::simulation
