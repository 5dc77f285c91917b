// How programs and what wraps them begin their lines.
#pragma once

#include <string_view>

namespace faultline {

// A stamp, a priority, a launcher's or NCCL's label, a record: what stands before nothing but a
// line of its own. A name with a colon does not; it may stand within a sentence.
bool begins_a_line(std::string_view text);

}  // namespace faultline
