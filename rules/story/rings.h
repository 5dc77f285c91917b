// Findings that explain each other in a ring: one of them began it, else nobody would be named.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "rules/story/candidate.h"

namespace faultline {

// Takes a link back, and keeps why.
void unlink(std::vector<Candidate>& candidates, std::size_t cause, std::size_t effect,
            std::string_view why);

// A ring opens at a cause, the earliest first; nothing is left in rings.
void open_rings(std::vector<Candidate>& candidates);

}  // namespace faultline
