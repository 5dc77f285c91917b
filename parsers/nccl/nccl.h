// The NCCL dialect, except calls: ingest/reader reads those itself.
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

bool parse_nccl(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
