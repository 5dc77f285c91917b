// The hosts whose kernel logs are here: a kernel message that is not there did not happen.
#pragma once

#include <set>
#include <string>

#include "rules/picture/view.h"

namespace faultline {

// "" stands for a log whose host is not known.
std::set<std::string> hosts_with_kernel_log(const View& view);

}  // namespace faultline
