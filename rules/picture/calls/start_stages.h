// How far processes came at startup, by the kinds of lines they printed: if all are stuck, the one
// that the others wait for has printed the fewest.
#pragma once

#include <string>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

struct LeftBehind {
  std::vector<ProcessKey> processes;
  std::string stage;      // the kind of line they lack: "nvls", "affinity"
  bool one_line = false;  // one process lacks this kind, and no other
};

// The processes that lack a kind of line that most others printed; none, if they are more than a
// few.
LeftBehind left_behind_in_start(const View& view, const std::vector<ProcessKey>& processes);

}  // namespace faultline
