// Findings that explain each other in a ring: one of them began it, or no cause would be named.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "rules/story/candidate.h"

namespace faultline {

// Removes a link, and keeps the reason.
void unlink(std::vector<Candidate>& candidates, std::size_t cause, std::size_t effect,
            std::string_view why);

// Opens each ring at the finding that most likely began it; no ring is left.
void open_rings(std::vector<Candidate>& candidates);

}  // namespace faultline
