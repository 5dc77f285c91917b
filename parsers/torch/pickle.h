// Reads pickles, the form in which Python programs store objects, as far as they hold nothing but
// dictionaries, lists, tuples, numbers and text. Nothing in a pickle is ever executed: an opcode
// that names code, or that no such object needs, is a reason to refuse the whole.
//
// Protocols 2 to 5; the older ones are text for another machine.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "parsers/torch/value_tree.h"

namespace faultline {

struct Pickle {
  enum class Outcome {
    whole,
    broken_off,  // fine so far, but it goes on; the tree holds what was complete
    refused,
  };
  Outcome outcome = Outcome::refused;
  std::string reason;        // why it was refused, and at which byte
  std::size_t consumed = 0;  // bytes up to its end; what follows is not looked at
  ValueTree tree;            // refers to the bytes it was read from
};

// Whether bytes begin as a pickle does, a text never.
bool begins_pickle(std::string_view bytes);

// Takes no more memory than, with the bytes themselves, 64 MB; what needs more is refused, and so
// is whatever is longer than this. Thousands of entries with their stacks take two megabytes.
inline constexpr std::size_t kMaxPickleBytes = std::size_t{24} << 20;

Pickle read_pickle(std::string_view bytes);

// Whether a text is proper UTF-8, but for lone surrogates, which Python lets pass.
bool is_utf8(std::string_view text);

}  // namespace faultline
