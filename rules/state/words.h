// Texts that many processes print, stored once: the settings of a thousand processes are mostly the
// same.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace faultline {

using Word = std::uint32_t;
inline constexpr Word kNoWord = 0xffffffff;

class Words {
 public:
  // The number of this text; kNoWord if there are too many already. A very long text is cut.
  Word learn(std::string_view text);

  // kNoWord if it was never learned.
  Word find(std::string_view text) const;

  const std::string& text(Word word) const { return texts_[word]; }

 private:
  std::deque<std::string> texts_;  // a deque, so that the views below stay valid
  std::unordered_map<std::string_view, Word> known_;
};

}  // namespace faultline
