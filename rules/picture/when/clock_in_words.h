#pragma once

#include <string>

#include "model/time.h"

namespace faultline {

// 2026-03-05 02:31:07 UTC; without "UTC" if the zone is not known. The time must be known.
std::string clock_in_words(const EventTime& time);

}  // namespace faultline
