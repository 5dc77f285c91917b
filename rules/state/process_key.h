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

// `source` is the index of the source in the job, `origin` what its sender said of it.
ProcessKey process_of(std::uint32_t source, const Source& origin, const Speaker& speaker);

}  // namespace faultline
