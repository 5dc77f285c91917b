// What becomes of a diagnosis when what decided it is taken away.
#pragma once

#include <string>

#include "accuracy/reading.h"

namespace faultline::accuracy {

enum class Taken {
  source,  // all that the process, kernel or tool said whose line comes first
  lines,   // the lines themselves; whatever else their source said stays
};

struct WithoutDecisive {
  bool less_sure = false;  // the same cause is stated with less confidence, or not at all
  bool asked_for = false;  // and a gap asks for such evidence of that host, or of these ranks
  std::string source;      // empty: nothing can be taken away
  std::string left;        // what is then stated and asked for, in short
};

// Of the first cause. A cause that names hosts and no rank is decided by all processes of a host
// that say the same, and one that names no part by all that tools say alike of it. Lines are taken
// where a part or a program says itself what it has: that a rank did not make a call is told by no
// line, but by its whole log.
WithoutDecisive without_decisive(const Doctor& doctor, const Files& files,
                                 const Diagnosis& diagnosis, Taken taken);

}  // namespace faultline::accuracy
