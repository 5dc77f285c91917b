// Why documents in a batch were not read, for their sender.
#pragma once

#include <string>
#include <vector>

#include "model/batch.h"

namespace faultline {

std::vector<std::string> refusals_in(const Batch& batch);

}  // namespace faultline
