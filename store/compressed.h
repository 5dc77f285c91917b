// Compressed bytes: zstd, with its checksum, so that damage is found when they are read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "model/result.h"

namespace faultline {

std::string compressed(std::string_view bytes);

// Refused if it says that it is larger than `most`, so that a damaged size cannot ask for all the
// memory. The error says only what is wrong: "has no sensible size".
Result<std::string> decompressed(std::string_view bytes, std::size_t most);

}  // namespace faultline
