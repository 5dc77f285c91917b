// How far processes came in starting up, by the kinds of lines they printed on the way: where all
// stand still, the one that others wait for has printed least.
#pragma once

#include <string>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

struct LeftBehind {
  std::vector<ProcessKey> processes;
  std::string stage;      // what they did not print and most others did: "nvls", "affinity"
  bool one_line = false;  // it is all that one process lacks
};

// Those that lack a kind of line which most others printed. Nobody, if they are more than a few.
LeftBehind left_behind_in_start(const View& view, const std::vector<ProcessKey>& processes);

}  // namespace faultline
