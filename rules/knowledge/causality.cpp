#include "rules/knowledge/causality.h"

#include "model/cause.h"

namespace faultline {

Causality::Causality(const std::vector<CausalLink>& links)
    : links_(links), classes_(cause_classes().size()), places_(classes_ * classes_) {
  for (std::size_t i = 0; i < links.size(); ++i) {
    const std::size_t cause = cause_number(links[i].cause);
    const std::size_t effect = cause_number(links[i].effect);
    if (cause < classes_ && effect < classes_)
      places_[cause * classes_ + effect] = static_cast<std::uint32_t>(i + 1);
  }
}

const CausalLink* Causality::between(std::size_t cause, std::size_t effect) const {
  if (cause >= classes_ || effect >= classes_) return nullptr;
  const std::uint32_t place = places_[cause * classes_ + effect];
  return place == 0 ? nullptr : &links_[place - 1];
}

}  // namespace faultline
