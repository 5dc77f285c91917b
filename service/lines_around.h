// The lines around a given line, as far as they are kept: a person looks at these next.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/store.h"

namespace faultline {

struct ShownLines {
  enum class What { line, calls, not_kept };
  What what = What::line;
  std::uint64_t first = 0;  // numbers in the source
  std::uint64_t last = 0;
  std::string text;  // of a line
};

// In the order of the source. `around`: how many lines before `line`, and how many behind it.
std::vector<ShownLines> lines_around(Store& store, const std::string& job,
                                     const std::string& source, std::uint64_t line,
                                     std::uint64_t around);

}  // namespace faultline
