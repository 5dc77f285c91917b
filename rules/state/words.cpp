#include "rules/state/words.h"

namespace faultline {
namespace {

constexpr std::size_t kMost = 65536;
constexpr std::size_t kLongest = 1024;

}  // namespace

Word Words::learn(std::string_view text) {
  text = text.substr(0, kLongest);
  const auto known = known_.find(text);
  if (known != known_.end()) return known->second;
  if (texts_.size() >= kMost) return kNoWord;
  const auto fresh = static_cast<Word>(texts_.size());
  known_.emplace(texts_.emplace_back(text), fresh);
  return fresh;
}

Word Words::find(std::string_view text) const {
  const auto known = known_.find(text.substr(0, kLongest));
  return known == known_.end() ? kNoWord : known->second;
}

}  // namespace faultline
