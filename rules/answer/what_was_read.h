// What an answer rests on, in a line: for a user who sent a file or two and reads that nothing was
// found in them.
#pragma once

#include <string>

#include "rules/picture/view.h"

namespace faultline {

// "Read: 212 lines of NCCL (9 of 16 ranks, no calls), 40 of the kernel; 3 of an unknown form.";
// empty: no line had a known form.
std::string what_was_read(const View& view);

}  // namespace faultline
