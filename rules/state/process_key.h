// Which process printed a line.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "model/batch.h"

namespace faultline {

struct ProcessKey {
  std::string
      host;  // "node7", or "node7#3" where without a pid only the source tells it from others
  std::int64_t pid = 0;
  auto operator<=>(const ProcessKey&) const = default;
};

// `origin`: what its sender said of the source.
ProcessKey process_of(const Source& origin, const Speaker& speaker);

// Of what a process said or did: an order by the process.
struct ByProcess {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a.process < b.process;
  }
};

}  // namespace faultline
