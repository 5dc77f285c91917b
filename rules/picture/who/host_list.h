// Lists of hosts as schedulers write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace faultline {

// "vm[1,3]", "gpu[001-003],login", "r[1-2]n[1-2]": each host by its short name, in the order of the
// list. Cut at more hosts than a cluster has; empty if the text is no list of hosts.
std::vector<std::string> hosts_in_list(std::string_view text);

}  // namespace faultline
