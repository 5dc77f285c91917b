#include "rules/state/fair_limit.h"

#include <algorithm>
#include <functional>
#include <string>

namespace faultline {
namespace {

constexpr std::size_t kKindsWithAShare = 32;
// Further kinds get nothing: a sender can invent any number.
constexpr std::size_t kMostKinds = 65536;

}  // namespace

bool FairLimit::allows(std::uint64_t kind) const {
  if (allows_all()) return true;
  if (kept_ >= most_) return false;
  const auto known = shares_.find(kind);
  if (known == shares_.end()) return shares_.size() < kMostKinds;
  return known->second < std::max<std::size_t>(1, most_ / 2 / kKindsWithAShare);
}

void FairLimit::add(std::uint64_t kind) {
  if (!allows_all()) ++shares_[kind];
  ++kept_;
}

void FairLimit::remove(std::uint64_t kind) {
  if (kept_ > 0) --kept_;
  if (kept_ <= most_ / 2)
    shares_.clear();
  else if (const auto known = shares_.find(kind); known != shares_.end() && --known->second == 0)
    shares_.erase(known);
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
  constexpr int kWords = 6;
  std::string kind;
  for (int i = 0; i < kWords && !text.empty(); ++i) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.find_first_of("0123456789#") == std::string_view::npos) kind += word;
    kind += ' ';
  }
  return std::hash<std::string>()(kind);
}

}  // namespace faultline
