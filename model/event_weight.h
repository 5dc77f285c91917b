// How much memory and disk an event takes.
#pragma once

#include <cstdint>

#include "model/batch.h"

namespace faultline {

// In units of a usual event: one line may name thousands of ranks by a range, or be an entry of a
// dump with all its frames.
std::uint64_t weight_of(const Event& event);

}  // namespace faultline
