#include "model/fact.h"

namespace faultline {

Fact::Fact() = default;
Fact::Fact(const Fact& other) = default;
Fact::Fact(Fact&& other) noexcept = default;
Fact& Fact::operator=(const Fact& other) = default;
Fact& Fact::operator=(Fact&& other) noexcept = default;
Fact::~Fact() = default;

bool Fact::operator==(const Fact& other) const {
  return static_cast<const FactKinds&>(*this) == static_cast<const FactKinds&>(other);
}

std::string_view kind_of(const Fact& fact) {
  return std::visit([](const auto& it) { return it.kKind; }, fact);
}

}  // namespace faultline
