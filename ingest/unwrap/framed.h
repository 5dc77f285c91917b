// How programs and what wraps them begin their lines.
#pragma once

#include <string_view>

namespace faultline {

// Whether a text begins with something that stands only at the beginning of a line: a stamp, a
// priority, a launcher's or NCCL's label, a record. A name with a colon does not count: it may
// stand within a sentence.
bool begins_a_line(std::string_view text);

}  // namespace faultline
