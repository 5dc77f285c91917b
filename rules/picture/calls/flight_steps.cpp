#include "rules/picture/calls/flight_steps.h"

namespace faultline {
namespace {

constexpr std::uint32_t kLookAhead = 8;     // calls compared after the odd one
constexpr std::uint32_t kLeastContext = 8;  // calls before it that identify a place in a step
constexpr std::uint32_t kMostContext = 64;

// The place in an earlier step that corresponds to `sequence`: the same call, after the same calls.
// 0: there is none.
std::uint32_t same_place_before(const Calls& calls, std::uint32_t sequence) {
  const auto here = calls.find(sequence);
  std::uint32_t best = 0;
  std::uint32_t most = 0;
  for (auto place = calls.begin(); place != calls.end() && place->first < sequence; ++place) {
    if (here == calls.end() || place->second != here->second) continue;
    std::uint32_t alike = 0;
    for (auto a = place, b = here; a != calls.begin() && alike < kMostContext; ++alike) {
      --a, --b;
      if (a->second != b->second || b->first - a->first != sequence - place->first) break;
    }
    if (alike >= kLeastContext && alike >= most) most = alike, best = place->first;
  }
  return best;
}

}  // namespace

Calls as_in_steps_before(Calls calls, std::uint32_t sequence) {
  const std::uint32_t place = same_place_before(calls, sequence);
  if (place == 0) return calls;
  // After a short step, the next step follows.
  for (std::uint32_t i = 1; i <= kLookAhead; ++i)
    if (const auto next = calls.find(place + i); next != calls.end())
      calls.try_emplace(sequence + i, next->second);
  return calls;
}

bool is_shifted(const Calls& odd, const Calls& usual, std::uint32_t sequence,
                std::uint32_t odd_shift, std::uint32_t usual_shift, std::uint32_t least_agreeing) {
  std::uint32_t agreeing = 0;
  for (std::uint32_t i = 0; i < kLookAhead; ++i) {
    const auto one = odd.find(sequence + i + odd_shift);
    const auto other = usual.find(sequence + i + usual_shift);
    if (one == odd.end() || other == usual.end()) break;
    if (one->second != other->second) return false;
    ++agreeing;
  }
  return agreeing >= least_agreeing;
}

}  // namespace faultline
