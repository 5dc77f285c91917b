// The operations of a process's proxy, which it prints on NCCL_PROXY_DUMP_SIGNAL (2.14.3 and
// later).
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

// ACTIVE OPS
bool parse_proxy_dump_head(std::string_view text, std::vector<Reading>& readings);

// [0-12|843| Send 9G/0 9S/1]; further operations of the same peer follow after "| `-> "
bool parse_proxy_operation(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
