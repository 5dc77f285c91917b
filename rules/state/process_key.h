// The process that printed a line.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "model/batch.h"

namespace faultline {

struct ProcessKey {
  // "node7"; if the host or the pid is not known, with the name of the source: "node7#nccl.log".
  std::string host;
  std::int64_t pid = 0;
  auto operator<=>(const ProcessKey&) const = default;
};

// `origin`: what the sender said about the source.
ProcessKey process_of(const Source& origin, const Speaker& speaker);

// Orders values by their process.
struct ByProcess {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a.process < b.process;
  }
};

}  // namespace faultline
