// Long sweeps are sampled where all tests run.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string>

namespace faultline {

// A sweep makes each Nth of its steps: FAULTLINE_EVERY, or `usual`. FAULTLINE_EVERY=1 makes all.
inline std::size_t every(std::size_t usual) {
  const char* wanted = std::getenv("FAULTLINE_EVERY");
  return wanted == nullptr ? usual : std::stoul(wanted);
}

}  // namespace faultline
