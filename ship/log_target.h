// Where the lines of a log go: one source of one job.
#pragma once

#include <compare>
#include <string>

namespace faultline {

struct LogTarget {
  std::string job;  // empty: the server's default
  std::string host;
  std::string source;
  int rank = -1;  // -1: not known
  auto operator<=>(const LogTarget&) const = default;
};

}  // namespace faultline
