// A parser reads one dialect: one line of text, its wrapping already taken off, becomes facts.
//
// It is a function: no state, no clock, no I/O. A line it does not know is not an error; so a
// parser never throws on input.
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

// A fact, and who the line says printed it. What the line does not tell stays empty.
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
  // True if the line is of this dialect, whether or not it says anything worth a fact.
  bool (*parse)(std::string_view text, std::vector<Reading>& readings);
  // Its lines may end in a number or a name: one that was cut off there would say something else,
  // and nothing would show it. Such a line is read only with its end.
  bool ends_openly = false;
};

// In the order they are tried.
std::span<const Parser> all_parsers();

}  // namespace faultline
