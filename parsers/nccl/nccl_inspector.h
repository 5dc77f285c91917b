// NCCL's Inspector, a profiler plugin: a line of JSON for each operation that completed.
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

bool parse_nccl_inspector(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
