// The collectives of one rank in one group, by number. Two ranks may be one call apart, because one
// of them left out a call or made an extra one.
#pragma once

#include <cstdint>
#include <map>

namespace faultline {

using Calls = std::map<std::uint32_t, std::uint32_t>;  // number, signature

// Adds the calls that would have come after `sequence`, taken from earlier steps: a program makes
// the same calls in each step.
Calls as_in_steps_before(Calls calls, std::uint32_t sequence);

// Whether the calls of `odd` from `sequence` + odd_shift on equal those of `usual` from `sequence`
// + usual_shift on, as far as both go, and for at least `least_agreeing` calls.
bool is_shifted(const Calls& odd, const Calls& usual, std::uint32_t sequence,
                std::uint32_t odd_shift, std::uint32_t usual_shift, std::uint32_t least_agreeing);

}  // namespace faultline
