// What lines that no rule knows may be about, by their words alone: for whoever is left with
// nothing else. Not among all_detectors(), as it is asked only then.
#pragma once

#include <string_view>
#include <vector>

#include "rules/knowledge/suspicion.h"
#include "rules/picture/view.h"

namespace faultline {

inline constexpr std::string_view kByWords = "by_words";

// A few, of different classes. `observed`: findings that accuse nobody; the lines of those that say
// that nothing here can read them count as well.
std::vector<Suspicion> find_by_words(const View& view, const std::vector<Finding>& observed);

}  // namespace faultline
