// The host of a rank without any line, as far as launchers give each host a block of ranks.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "rules/picture/view.h"

namespace faultline {

struct RankHosts {
  int block = 0;  // ranks per host; 0: they are not given out in blocks
  std::map<int, std::string> host_of_block;
  std::map<std::string, int> block_of_host;

  std::string host_of(int rank) const;  // empty: not known
  std::optional<int> block_of(const std::string& host) const;
};

RankHosts rank_hosts(const View& view);

}  // namespace faultline
