// Browsers say on whose behalf they send. Without this check any page somebody looks at could write
// to a server on their machine.
#pragma once

#include "http/message.h"

namespace faultline {

// True if a page of another origin sent this.
bool crosses_origins(const Request& request);

}  // namespace faultline
