#pragma once

#include <cstdint>
#include <optional>

#include "model/time.h"

namespace faultline {

// By the finest clock that both have; nullopt if they share none.
std::optional<std::int64_t> microseconds_between(const EventTime& from, const EventTime& to);

}  // namespace faultline
