// The numbers and fingerprints of batches that were joined into one: bytes that are sent again are
// recognised, however little of their content is left.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/bytes.h"
#include "store/store.h"

namespace faultline {

std::string write_prints(const std::vector<HeldBlock>& blocks);

// Throws BadBytes.
std::vector<HeldBlock> read_prints(std::string_view bytes);

}  // namespace faultline
