// NCCL warnings that people pasted without the frame that NCCL prints before them.
#pragma once

#include <string_view>

namespace faultline {

// Views point into the text it was read from.
struct BareWarning {
  std::string_view place;  // FILE:LINE or FUNCTION:LINE, if it was pasted too
  std::string_view text;
};

// misc/socket.cc:484 Call to connect failed : Connection refused
// The result need not be NCCL's: only its words can show that.
BareWarning bare_warning(std::string_view text);

// Whether NCCL itself prints this text before a message: nothing, a function, a transport.
// "bootstrapNetInit: ", "NET/IB : "; not "You may see ".
bool may_stand_before_warning(std::string_view text);

}  // namespace faultline
