// What can explain what, so that whoever compares many findings looks through no list.
#pragma once

#include <cstdint>
#include <vector>

#include "rules/knowledge/catalog.h"

namespace faultline {

class Causality {
 public:
  explicit Causality(const std::vector<CausalLink>& links);  // which must outlive it

  // nullptr: it does not explain it.
  const CausalLink* between(Cause cause, Cause effect) const;

 private:
  const std::vector<CausalLink>& links_;
  std::vector<std::uint32_t> places_;  // by cause and effect: place among the links, from 1
};

}  // namespace faultline
