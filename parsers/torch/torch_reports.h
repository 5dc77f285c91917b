// Lines in which PyTorch names ranks by itself: desync reports, monitored_barrier, fingerprints of
// TORCH_DISTRIBUTED_DEBUG=DETAIL, parameters without a gradient.
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

bool parse_torch_desync(std::string_view text, std::vector<Reading>& readings);
bool parse_torch_barrier(std::string_view text, std::vector<Reading>& readings);
bool parse_torch_called(std::string_view text, std::vector<Reading>& readings);
// What an exception says besides: it may be a report of PyTorch's.
void parse_torch_raised(std::string_view message, std::vector<Reading>& readings);
// What a program in C++ ended with: "  what():  CUDA error: unknown error".
bool parse_cpp_exception(std::string_view text, std::vector<Reading>& readings);
bool parse_torch_unused(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
