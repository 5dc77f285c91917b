// Lists of hosts as schedulers write them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {

// "vm[1,3]", "gpu[001-003],login", "r[1-2]n[1-2]": each host by its short name, in the order of the
// list. A few bytes may stand for millions of hosts, so all lists together name only so many: a
// list beyond that names none, as one that is no list of hosts.
class HostLists {
 public:
  std::vector<std::string> hosts_in(std::string_view text);

 private:
  static constexpr std::size_t kMostInOne = 16384;  // more than a cluster has
  std::size_t left_ = 16 * kMostInOne;
};

}  // namespace faultline
