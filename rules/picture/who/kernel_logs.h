// Whose kernels were heard: what a kernel would have said of a host that is not here did not
// happen.
#pragma once

#include <set>
#include <string>

#include "rules/picture/view.h"

namespace faultline {

// "" stands for a log of which no line tells the host.
std::set<std::string> hosts_with_kernel_log(const View& view);

}  // namespace faultline
