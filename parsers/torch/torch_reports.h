// Lines in which PyTorch itself names ranks: desync reports, monitored_barrier, fingerprints of
// TORCH_DISTRIBUTED_DEBUG=DETAIL, parameters without a gradient.
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

bool parse_torch_desync(std::string_view text, std::vector<Reading>& readings);
bool parse_torch_barrier(std::string_view text, std::vector<Reading>& readings);
bool parse_torch_called(std::string_view text, std::vector<Reading>& readings);
// The message of an exception, which may be one of PyTorch's reports.
void parse_torch_raised(std::string_view message, std::vector<Reading>& readings);
// The exception with which a C++ program ended: "  what():  CUDA error: unknown error".
bool parse_cpp_exception(std::string_view text, std::vector<Reading>& readings);
bool parse_torch_unused(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
