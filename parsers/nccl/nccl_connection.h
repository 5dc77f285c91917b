// NCCL's lines about how ranks are connected: rings, and the path from each rank to its neighbours.
#pragma once

#include <vector>

#include "parsers/nccl/nccl_form.h"

namespace faultline {

// Channel 00/0 : 1[1] -> 2[0] [send] via NET/IB/1/GDRDMA
// Ring 00 : 1 -> 2 [send] via NET/IB/1                            to 2.6
bool read_peer_connection(const NcclMessage& message, std::vector<Fact>& facts);

// CollNet 00/0 : 1 [send] via COLLNET/SHARP/0/GDRDMA
bool read_collnet_connection(const NcclMessage& message, std::vector<Fact>& facts);

// Channel 00/02 : 0 1 2 3
bool read_ring(const NcclMessage& message, std::vector<Fact>& facts);

// Connected all rings, use ring PXN 0 GDR 1
bool read_connected(const NcclMessage& message, std::vector<Fact>& facts);

// rank 0 Connected CollNet
bool read_rank_connected(const NcclMessage& message, std::vector<Fact>& facts);

// Bootstrap timings total 0.412337 (create 0.000041, ...)
bool read_bootstrap_timings(const NcclMessage& message, std::vector<Fact>& facts);

// Init timings - ncclCommInitRank: rank 0 nranks 4 total 0.93 (kernels 0.14, ...)
bool read_init_timings(const NcclMessage& message, std::vector<Fact>& facts);

// timings: rank 0 nranks 4 P2p connect done in 0.12
bool read_connect_timings(const NcclMessage& message, std::vector<Fact>& facts);

}  // namespace faultline
