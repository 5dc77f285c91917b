// Whether the stamps of two logs may be of one moment.
#pragma once

#include "model/time.h"

namespace faultline {

// Launchers check every few seconds, and print their tables when all processes have ended. If only
// one stamp has a zone, the other may be in any. True if a time is not known.
bool may_be_one_moment(const EventTime& kernels, const EventTime& launchers);

}  // namespace faultline
