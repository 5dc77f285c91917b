// The dialects of lines that more than one reader asks for, as parsers and signatures name them.
#pragma once

#include <string_view>

namespace faultline {

constexpr std::string_view kKernel = "kernel";
constexpr std::string_view kNccl = "nccl";
constexpr std::string_view kSystem = "system";
constexpr std::string_view kTorch = "torch";

}  // namespace faultline
