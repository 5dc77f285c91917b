// What NCCL itself puts before its messages, so that no layer takes it for a wrapper's.
#pragma once

#include <string_view>

namespace faultline {

// node7:4242:4243 [0] NCCL INFO ..., or the same after NCCL's [2025-04-06 22:31:56].
bool starts_with_nccl_speaker(std::string_view text);

// A line of NCCL, with or without the speaker that people cut off before they paste.
bool starts_like_nccl(std::string_view text);

}  // namespace faultline
