// The collectives of one rank in one group, by their numbers, and how those of two ranks lie to
// each other: one call apart, where one of them left one out or made one more.
#pragma once

#include <cstdint>
#include <map>

namespace faultline {

using Calls = std::map<std::uint32_t, std::uint32_t>;  // number, signature

// With what would have come after `sequence`, where nothing has: a program calls the same things in
// each step.
Calls as_in_steps_before(Calls calls, std::uint32_t sequence);

// Whether `odd` from `sequence` + odd_shift on is `usual` from `sequence` + usual_shift on, in as
// many calls as this and as far as both go.
bool is_shifted(const Calls& odd, const Calls& usual, std::uint32_t sequence,
                std::uint32_t odd_shift, std::uint32_t usual_shift, std::uint32_t least_agreeing);

}  // namespace faultline
