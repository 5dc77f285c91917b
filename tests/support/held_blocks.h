// Fingerprints as a store returns them, a few at a time.
#pragma once

#include <algorithm>
#include <vector>

#include "service/resend_filter.h"

namespace faultline {

inline HeldBlocks held_blocks(const std::vector<Fingerprint>& prints) {
  constexpr std::size_t kWindow = 3;
  std::vector<HeldBlock> all;
  for (const Fingerprint& print : prints)
    all.push_back({.batch = static_cast<std::int64_t>(all.size()) * 2 + 1, .print = print});
  HeldBlocks held;
  std::ranges::copy_if(all, std::back_inserter(held.starts),
                       [](const HeldBlock& block) { return block.print.starts_body; });
  held.after = [all](std::int64_t batch) {
    std::vector<HeldBlock> window;
    for (const HeldBlock& block : all)
      if (block.batch > batch && window.size() < kWindow) window.push_back(block);
    return window;
  };
  return held;
}

}  // namespace faultline
