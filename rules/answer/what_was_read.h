// What an answer rests on, in a line: for whoever pasted a file or two and is told that nothing was
// found in them.
#pragma once

#include <string>

#include "rules/picture/view.h"

namespace faultline {

// "Read: 212 lines of NCCL's (9 of 16 ranks, no calls), 40 of the kernel's; 3 of no form that is
// known."; empty: no line was known.
std::string what_was_read(const View& view);

}  // namespace faultline
