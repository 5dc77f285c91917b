// Guesses what lines that no rule knows may be about, from their words alone. Used only if nothing
// else was found, so it is not among all_detectors().
#pragma once

#include <string_view>
#include <vector>

#include "rules/knowledge/suspicion.h"
#include "rules/picture/view.h"

namespace faultline {

inline constexpr std::string_view kByWords = "by_words";

// Returns a few suspicions, each of another class. `observed`: findings that accuse nobody; the
// lines of those that no rule understands are guessed at, too.
std::vector<Suspicion> find_by_words(const View& view, const std::vector<Finding>& observed);

}  // namespace faultline
