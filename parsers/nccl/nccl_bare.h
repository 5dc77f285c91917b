// Warnings of NCCL that people posted without what NCCL prints in front of them.
#pragma once

#include <string_view>

namespace faultline {

// Views point into the text it was read from.
struct BareWarning {
  std::string_view place;  // FILE:LINE or FUNCTION:LINE, where it was left
  std::string_view text;
};

// misc/socket.cc:484 Call to connect failed : Connection refused
// What is left may be anybody's line: whether it reads like NCCL's, its words tell.
BareWarning bare_warning(std::string_view text);

// Whether only NCCL's own words stand before its message: nothing, the function that speaks, the
// transport. "bootstrapNetInit: ", "NET/IB : "; not "You may see ".
bool may_stand_before_warning(std::string_view text);

}  // namespace faultline
