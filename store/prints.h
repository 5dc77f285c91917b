// The numbers and fingerprints of batches that became one: what was sent is known again, however
// little is left of what it told.
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
