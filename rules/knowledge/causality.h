// What can explain what, asked by the numbers of classes (model/cause.h): whoever compares many
// findings compares no texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rules/knowledge/catalog.h"

namespace faultline {

class Causality {
 public:
  explicit Causality(const std::vector<CausalLink>& links);  // which must outlive it

  // nullptr: it does not explain it.
  const CausalLink* between(std::size_t cause, std::size_t effect) const;

 private:
  const std::vector<CausalLink>& links_;
  std::size_t classes_;
  std::vector<std::uint32_t> places_;  // by cause and effect: place among the links, from 1
};

}  // namespace faultline
