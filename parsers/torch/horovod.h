// Horovod's list of ranks that have not submitted the tensors for which their peers wait.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

// Until 0.18 a line for each tensor:
// HorovodAllreduce_grads_0 [missing ranks: 0, 3]
bool parse_missing_ranks(std::string_view text, std::vector<Reading>& readings);

// Missing ranks:
// 0: [HorovodAllreduce_grads_0, HorovodAllreduce_grads_1 ...]
bool begins_stalled_ranks(std::string_view text);
std::unique_ptr<Document> make_stalled_ranks();

}  // namespace faultline
