#include "rules/state/fair_limit.h"

#include <algorithm>
#include <functional>

namespace faultline {
namespace {

constexpr std::size_t kKindsWithAShare = 32;

}  // namespace

bool FairLimit::allows(std::uint64_t kind) const {
  if (allows_all()) return true;
  if (kept_ >= most_) return false;
  const auto known = shares_.find(kind);
  return known == shares_.end() ||
         known->second < std::max<std::size_t>(1, most_ / 2 / kKindsWithAShare);
}

void FairLimit::add(std::uint64_t kind) {
  if (!allows_all()) ++shares_[kind];
  ++kept_;
}

bool FairLimit::admit(std::uint64_t kind) {
  if (!allows(kind)) {
    ++left_out_;
    return false;
  }
  add(kind);
  return true;
}

std::uint64_t kind_of_text(std::string_view text) {
  constexpr int kWords = 3;
  std::size_t end = 0;
  for (int i = 0; i < kWords && end != std::string_view::npos; ++i) end = text.find(' ', end + 1);
  return std::hash<std::string_view>()(text.substr(0, end));
}

}  // namespace faultline
