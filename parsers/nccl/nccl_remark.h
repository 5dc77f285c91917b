// NCCL's warnings in free text, and the lines that show an error passing up the call stack.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "parsers/nccl/nccl_form.h"

namespace faultline {

// transport/net.cc:1227 -> 6
// proxy.cc:878 (ncclProxyProgress) -> 6 [Progress Thread]
bool read_back_trace(const NcclMessage& message, std::vector<Fact>& facts);

// NCCL WARN, NCCL ABORT: any text.
bool read_warning(const NcclMessage& message, std::vector<Fact>& facts);
bool read_abort(const NcclMessage& message, std::vector<Fact>& facts);

// If a line without a frame continues the warning right before it, returns what to put between
// them: a newline if NCCL broke the line, a blank if a terminal did.
std::optional<char> continues_warning(std::string_view warning, std::string_view line);

}  // namespace faultline
