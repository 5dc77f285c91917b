// What becomes of a diagnosis when the line that decided it is taken away.
#pragma once

#include <string>

#include "accuracy/reading.h"

namespace faultline::accuracy {

struct WithoutDecisive {
  bool less_sure = false;  // the same cause is stated with less confidence, or not at all
  bool asked_for = false;  // and what is missing is named
  std::string source;
};

// Takes away the source of the first line of the first cause. Of a merged log, which holds
// everything, only what that process or kernel said.
WithoutDecisive without_decisive(const Doctor& doctor, const Files& files,
                                 const Diagnosis& diagnosis);

}  // namespace faultline::accuracy
