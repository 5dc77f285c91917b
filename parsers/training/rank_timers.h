// Megatron-LM's timers of all ranks, under "times across ranks (ms):" (--timing-log-option all).
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_rank_timers(std::string_view text);
std::unique_ptr<Document> make_rank_timers();

}  // namespace faultline
