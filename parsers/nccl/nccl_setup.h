// NCCL's lines about how a process is set up: versions, environment, devices, plugins.
#pragma once

#include <vector>

#include "parsers/nccl/nccl_form.h"

namespace faultline {

// NCCL version 2.21.5+cuda12.4
bool read_version(const NcclMessage& message, std::vector<Fact>& facts);
// NCCL git version master 3ea7eedf3
bool read_git_version(const NcclMessage& message, std::vector<Fact>& facts);
// cudaDriverVersion 12080
bool read_driver_version(const NcclMessage& message, std::vector<Fact>& facts);

// NCCL_IB_TIMEOUT set by environment to 22.
// NCCL_IB_HCA set to mlx5_0,mlx5_1
bool read_environment(const NcclMessage& message, std::vector<Fact>& facts);
// NET/Plugin: Plugin name set by env to libnccl-net.so
bool read_plugin_environment(const NcclMessage& message, std::vector<Fact>& facts);
// Comm config Blocking set to 1
bool read_config(const NcclMessage& message, std::vector<Fact>& facts);

// Bootstrap : Using eth0:10.0.0.11<0>
bool read_bootstrap_interface(const NcclMessage& message, std::vector<Fact>& facts);
// NET : Using interface eth0:10.0.0.11<0>
bool read_old_interface(const NcclMessage& message, std::vector<Fact>& facts);
// NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.11<0>
// NET/IB : No device found.
bool read_ib_devices(const NcclMessage& message, std::vector<Fact>& facts);
// NET/IB: [0] mlx5_0:1/IB
bool read_old_ib_device(const NcclMessage& message, std::vector<Fact>& facts);
// NET/Socket : Using [0]eth0:10.2.3.32<0>
bool read_socket_devices(const NcclMessage& message, std::vector<Fact>& facts);

// Using network IB
bool read_network(const NcclMessage& message, std::vector<Fact>& facts);
// NET/Plugin: Loaded net plugin Libfabric (v8)
// TUNER/Plugin: Could not find: libnccl-tuner.so. Using internal tuner plugin.
bool read_plugin(const NcclMessage& message, std::vector<Fact>& facts);
// Using tuner plugin: 'example'
bool read_old_tuner(const NcclMessage& message, std::vector<Fact>& facts);
// Assigned GIN plugin GIN_IB to comm
bool read_assigned_plugin(const NcclMessage& message, std::vector<Fact>& facts);

// NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0' (no module)
bool read_nic_gdr(const NcclMessage& message, std::vector<Fact>& facts);
// GPU Direct RDMA Enabled for GPU 1b000 / HCA 0 (distance 4 <= 4), read 0
bool read_pair_gdr(const NcclMessage& message, std::vector<Fact>& facts);
// DMA-BUF is available on GPU device 0
bool read_dmabuf(const NcclMessage& message, std::vector<Fact>& facts);

// Pattern 4, crossNic 0, nChannels 2, bw 24.000000/12.000000, type NVL/PIX, sameChannels 1
bool read_graph(const NcclMessage& message, std::vector<Fact>& facts);
// 2 coll channels, 2 collnet channels, 0 nvls channels, 2 p2p channels, 2 p2p channels per peer
bool read_channel_counts(const NcclMessage& message, std::vector<Fact>& facts);
// Check P2P Type isAllDirectP2p 0 directMode 0
bool read_p2p_type(const NcclMessage& message, std::vector<Fact>& facts);
// P2P Chunksize set to 131072
bool read_p2p_chunk(const NcclMessage& message, std::vector<Fact>& facts);
// CC Off, workFifoBytes 1048576
bool read_confidential(const NcclMessage& message, std::vector<Fact>& facts);
// NVLS multicast support is not available on dev 0 (NVLS_NCHANNELS 0)
bool read_multicast(const NcclMessage& message, std::vector<Fact>& facts);
// MNNVL busId 0x1b000 fabric UUID 0.0 cliqueId 0x0 state 3 healthMask 0x0
// MNNVL 1 cliqueId 7ffe cliqueSize 8 cliqueRank 0
bool read_mnnvl(const NcclMessage& message, std::vector<Fact>& facts);
// Setting affinity for GPU 0 to 0-31
bool read_affinity(const NcclMessage& message, std::vector<Fact>& facts);

}  // namespace faultline
