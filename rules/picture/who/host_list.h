// Lists of hosts as schedulers write them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {

struct HostList {
  std::vector<std::string>
      hosts;          // by their short names, sorted; none if the text is no list of hosts
  bool whole = true;  // false: a part cannot be read, or stands for more hosts than are written out
};

// "vm[1,3]", "gpu[001-003],login", "r[1-2]n[1-2]". A few bytes may stand for millions of hosts: no
// more are written out than a cluster has, and of all lists together only so many.
class HostLists {
 public:
  const HostList& of(std::string_view text);  // it stays where it is

 private:
  static constexpr std::size_t kMostInOne = 16384;

  std::map<std::string, HostList, std::less<>> read_;
  std::size_t left_ = 16 * kMostInOne;
};

}  // namespace faultline
