// NCCL's lines about the beginning and the end of a communicator: which rank of it this process
// is, on which GPU.
#pragma once

#include <optional>
#include <string_view>

#include "model/fact.h"

namespace faultline {

// ncclCommInitRank comm 0x55b6 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 17000 commId 0x54fe - Init
// COMPLETE comm 0x55b6 rank 0 nranks 2 cudaDev 0 busId 17000 - Destroy COMPLETE
std::optional<Fact> parse_nccl_lifetime(std::string_view message);

}  // namespace faultline
