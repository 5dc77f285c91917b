// What a process prints of its proxy's operations on NCCL_PROXY_DUMP_SIGNAL (2.14.3 and later).
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

// ACTIVE OPS
bool parse_proxy_dump_head(std::string_view text, std::vector<Reading>& readings);

// [0-12|843| Send 9G/0 9S/1], in a list of the same peer behind "| `-> "
bool parse_proxy_operation(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
