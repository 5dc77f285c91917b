// The NCCL dialect: what its lines say besides the calls, which ingest/reader takes out by itself.
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

bool parse_nccl(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
