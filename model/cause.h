// The vocabulary of causes: every class that a finding may have, and its traits. They are data:
// rules/knowledge/catalog/classes.yaml.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>

#include "model/classes.h"

namespace faultline {

// All classes, without Cause::none.
constexpr std::span<const CauseClass> cause_classes() {
  return std::span(kCauseClasses).subspan(1);
}

constexpr const CauseClass& class_of(Cause cause) {
  return kCauseClasses[static_cast<std::size_t>(cause)];
}

// "gpu.off_bus"; empty for Cause::none.
constexpr std::string_view name_of(Cause cause) { return class_of(cause).name; }

// Cause::none: there is no such class.
Cause cause_named(std::string_view name);

constexpr bool is(Cause cause, Trait trait) { return class_of(cause).traits.has(trait); }

constexpr bool is_of(Cause cause, Family family) { return class_of(cause).family == family; }

constexpr bool is_of(Cause cause, std::initializer_list<Family> families) {
  for (const Family family : families)
    if (is_of(cause, family)) return true;
  return false;
}

constexpr bool is_one_of(Cause cause, std::initializer_list<Cause> some) {
  for (const Cause one : some)
    if (cause == one) return true;
  return false;
}

// Compares with a name from outside.
constexpr bool operator==(Cause cause, std::string_view name) { return name_of(cause) == name; }

}  // namespace faultline

template <>
struct fmt::formatter<faultline::Cause> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(faultline::Cause cause, Context& context) const {
    return fmt::formatter<std::string_view>::format(faultline::name_of(cause), context);
  }
};
