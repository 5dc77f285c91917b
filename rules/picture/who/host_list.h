// Lists of hosts as schedulers write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace faultline {

// "vm[1,3]", "gpu[001-003],login", "r[1-2]n[1-2]": each host by its short name, in the order of the
// list. Of more than a cluster has the rest is left out; what is no list of hosts gives nothing.
std::vector<std::string> hosts_in_list(std::string_view text);

}  // namespace faultline
