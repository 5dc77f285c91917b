#include "model/cause.h"

#include <algorithm>
#include <iterator>

namespace faultline {

Cause cause_named(std::string_view name) {
  const auto found = std::ranges::find(kCauseClasses, name, &CauseClass::name);
  if (found == std::ranges::end(kCauseClasses)) return Cause::none;
  return static_cast<Cause>(found - std::ranges::begin(kCauseClasses));
}

}  // namespace faultline
