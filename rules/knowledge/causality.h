// Which class can explain which, as a table: comparing many findings must not search a list.
#pragma once

#include <cstdint>
#include <vector>

#include "rules/knowledge/catalog.h"

namespace faultline {

class Causality {
 public:
  explicit Causality(const std::vector<CausalLink>& links);  // `links` must outlive it

  // nullptr: `cause` does not explain `effect`.
  const CausalLink* between(Cause cause, Cause effect) const;

 private:
  const std::vector<CausalLink>& links_;
  std::vector<std::uint32_t> places_;  // by cause and effect: place among the links, from 1
};

}  // namespace faultline
