// A parser turns one line of one dialect, without its wrapping, into facts.
//
// It is a function: no state, no clock, no I/O. An unknown line is not an error, so a parser never
// throws on input.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/fact.h"
#include "model/time.h"

namespace faultline {

// A fact, and who printed it according to the line. What the line does not say stays empty.
struct Reading {
  Fact fact;
  std::string host;
  std::int64_t pid = 0;
  int device = -1;
  std::optional<Timestamp> time;
};

struct Parser {
  std::string_view dialect;  // "nccl", "kernel": what the receipt counts
  std::string_view
      hint;  // text every line of the dialect contains; looked for before parse is called
  // True if the line is of this dialect, even if it yields no fact.
  bool (*parse)(std::string_view text, std::vector<Reading>& readings);
  // Lines may end in a number or a name. If such a line was cut, it would say something else and
  // nobody could see that. So it is read only if its end is known.
  bool ends_openly = false;
};

// In the order in which they are tried.
std::span<const Parser> all_parsers();

}  // namespace faultline
