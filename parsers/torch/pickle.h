// Reads pickles, the form in which Python programs store objects. Only dictionaries, lists, tuples,
// numbers and text are read. Nothing in a pickle is ever executed: a pickle is refused if an opcode
// names code, or is not needed for such objects.
//
// Protocols 2 to 5. Protocols 0 and 1 are text with other opcodes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "parsers/torch/value_tree.h"

namespace faultline {

struct Pickle {
  enum class Outcome {
    whole,
    broken_off,  // correct so far, but its end is missing; the tree has the complete values
    refused,
  };
  Outcome outcome = Outcome::refused;
  std::string reason;        // why it was refused, and at which byte
  std::size_t consumed = 0;  // bytes up to its end; bytes after it are not read
  ValueTree tree;            // refers to the bytes that were read
};

// Whether bytes begin like a pickle. No text does.
bool begins_pickle(std::string_view bytes);

// A longer pickle is refused, and so is a pickle that takes more than 64 MB of memory, its bytes
// included. Thousands of entries with their stacks take two megabytes.
inline constexpr std::size_t kMaxPickleBytes = std::size_t{24} << 20;

Pickle read_pickle(std::string_view bytes);

// Whether a text is valid UTF-8. Lone surrogates are allowed, as in Python.
bool is_utf8(std::string_view text);

}  // namespace faultline
