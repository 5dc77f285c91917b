// How a diagnosis changes when its deciding evidence is removed.
#pragma once

#include <string>

#include "accuracy/reading.h"

namespace faultline::accuracy {

enum class Taken {
  source,  // everything from the process, kernel or tool whose line comes first
  lines,   // only the deciding lines; the rest of their sources stays
};

struct WithoutDecisive {
  bool less_sure = false;  // the same cause is stated with less confidence, or not at all
  bool asked_for = false;  // missing evidence asks for it, of that host or of these ranks
  std::string source;      // empty: nothing can be removed
  std::string left;        // what is then stated and asked for, in short
};

// Removes the evidence of the first cause. If the cause names hosts and no rank, the logs of all
// processes of the host are removed, since each says the same; if it names no part at all, all
// files of that kind. Lines alone are removed only if they say themselves what is wrong: a call
// that a rank did not make has no line, only the whole log shows it.
WithoutDecisive without_decisive(const Doctor& doctor, const Files& files,
                                 const Diagnosis& diagnosis, Taken taken);

}  // namespace faultline::accuracy
