// Saves a part whose lines are still being read, so that it survives a restart.
#pragma once

#include <cstddef>
#include <vector>

#include "model/facts/part.h"
#include "model/saved_bytes.h"

namespace faultline {

void save_values(SavedBytesWriter& saved, const std::vector<NamedValue>& values);
std::vector<NamedValue> restored_values(SavedBytesReader& saved);

void save_part(SavedBytesWriter& saved, const PartReport& report);
PartReport restored_part(SavedBytesReader& saved);

// Bytes, roughly.
std::size_t size_of(const std::vector<NamedValue>& values);
std::size_t size_of(const PartReport& report);

}  // namespace faultline
