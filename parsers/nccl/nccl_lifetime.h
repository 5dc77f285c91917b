// NCCL's lines about the beginning and the end of a communicator: which rank this process is, on
// which GPU.
#pragma once

#include <vector>

#include "parsers/nccl/nccl_form.h"

namespace faultline {

// ncclCommInitRank comm 0x55b6 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 17000 commId 0x54fe - Init
// COMPLETE
bool read_communicator_init(const NcclMessage& message, std::vector<Fact>& facts);

// comm 0x55b6 rank 0 nranks 2 cudaDev 0 busId 17000 - Destroy COMPLETE
bool read_communicator_end(const NcclMessage& message, std::vector<Fact>& facts);

// comm 0x55b6 rank 0 nRanks 4 nNodes 2 localRanks 2 localRank 0 MNNVL 0
bool read_communicator_shape(const NcclMessage& message, std::vector<Fact>& facts);

}  // namespace faultline
