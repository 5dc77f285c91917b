#include "rules/knowledge/causality.h"

#include <cstddef>
#include <iterator>

namespace faultline {
namespace {

std::size_t place_of(Cause cause, Cause effect) {
  return static_cast<std::size_t>(cause) * std::size(kCauseClasses) +
         static_cast<std::size_t>(effect);
}

}  // namespace

Causality::Causality(const std::vector<CausalLink>& links)
    : links_(links), places_(std::size(kCauseClasses) * std::size(kCauseClasses)) {
  for (std::size_t i = 0; i < links.size(); ++i)
    places_[place_of(links[i].cause, links[i].effect)] = static_cast<std::uint32_t>(i + 1);
}

const CausalLink* Causality::between(Cause cause, Cause effect) const {
  const std::uint32_t place = places_[place_of(cause, effect)];
  return place == 0 ? nullptr : &links_[place - 1];
}

}  // namespace faultline
