// What a collection has found.
#pragma once

#include <string>
#include <vector>

namespace faultline {

struct GatheredText {
  std::string part;  // behind the name of its source; empty: it is all of it
  int rank = -1;     // -1: not known
  std::string text;
};

struct Gathered {
  std::vector<GatheredText> texts;
  std::string ran;      // for the audit: what was run, and how it ended
  std::string failure;  // why nothing was found
};

// Adds to a list that is read by people: "a; b".
inline void add_to_list(std::string& list, const std::string& more) {
  if (!list.empty()) list += "; ";
  list += more;
}

}  // namespace faultline
