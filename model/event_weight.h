// What an event takes of memory and disk.
#pragma once

#include <cstdint>

#include "model/batch.h"

namespace faultline {

// In events: a line of forty bytes may name thousands of ranks by a range.
std::uint64_t weight_of(const Event& event);

}  // namespace faultline
