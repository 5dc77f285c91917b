// What the lines of NCCL say.
#pragma once

#include <boost/describe.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace faultline {

// NCCL began or finished setting up a communicator on one rank.
struct CommunicatorInit {
  static constexpr std::string_view kKind = "communicator_init";
  std::uint64_t communicator = 0;  // a pointer: means something only within its process
  int rank = 0;
  int nranks = 0;
  int cuda_device = -1;         // as the process counts them
  int nvml_device = -1;         // as nvidia-smi counts them; -1: this version does not print it
  std::string gpu;              // 0000:3b:00.0; empty where the version prints no busId
  std::string communicator_id;  // 0x… as printed: equal on all its ranks; empty if not printed
  std::optional<std::uint64_t> parent;  // split, shrink: the communicator it came from
  std::optional<int> child;             // which split of the parent it is, where printed
  std::optional<int> color;
  std::optional<int> key;
  std::string function;   // ncclCommInitRank, ncclCommSplit, …; empty if not printed
  bool complete = false;  // false: Init START
  // The thread that printed the line: lines that name no communicator are matched by their thread.
  std::int64_t thread = 0;
  bool operator==(const CommunicatorInit&) const = default;
};
BOOST_DESCRIBE_STRUCT(CommunicatorInit, (),
                      (communicator, rank, nranks, cuda_device, nvml_device, gpu, communicator_id,
                       parent, child, color, key, function, complete, thread))

enum class CommunicatorEnding { destroyed, abort_started, aborted, revoke_started, revoked };
BOOST_DESCRIBE_ENUM(CommunicatorEnding, destroyed, abort_started, aborted, revoke_started, revoked)

// A communicator ended on one rank; its pointer may be used again.
struct CommunicatorEnd {
  static constexpr std::string_view kKind = "communicator_end";
  std::uint64_t communicator = 0;
  int rank = 0;
  int nranks = 0;
  std::string gpu;
  CommunicatorEnding ending = CommunicatorEnding::destroyed;
  bool operator==(const CommunicatorEnd&) const = default;
};
BOOST_DESCRIBE_STRUCT(CommunicatorEnd, (), (communicator, rank, nranks, gpu, ending))

// Where a communicator's rank sits: printed once the topology is known (2.20 and later).
struct CommunicatorShape {
  static constexpr std::string_view kKind = "communicator_shape";
  std::uint64_t communicator = 0;
  int rank = 0;
  int nranks = 0;
  int nodes = 0;
  int local_ranks = 0;
  int local_rank = 0;
  bool operator==(const CommunicatorShape&) const = default;
};
BOOST_DESCRIBE_STRUCT(CommunicatorShape, (),
                      (communicator, rank, nranks, nodes, local_ranks, local_rank))

// One setting of a process, if it can be compared between ranks and with the last start. A process
// prints most settings once, and some once for each communicator.
//
//   group        name                     value
//   version      nccl, nccl_git, driver   2.27.7+cuda12.8, v2.30u1 86fa684d, 12080
//   environment  NCCL_IB_HCA              mlx5_0,mlx5_1
//   config       Blocking, …              1; of a communicator, as the program set it
//   network      used                     IB, Socket, AWS Libfabric
//   devices      IB, Socket               mlx5_0:1/RoCE mlx5_1:1/RoCE; in order of their numbers.
//                                         Empty: none. A merged NIC: mlx5_0:1/IB+mlx5_1:1/IB. Ends
//                                         with " ..." where NCCL had no room for all
//                IB/0, IB/1               mlx5_0:1/IB; 2.3, which prints a line for each
//   interface    bootstrap, oob           eth0:10.0.0.11
//   plugin       net, tuner, profiler, …  Libfabric (v8); none: not found
//   gdr          mlx5_0                   enabled, disabled; by NIC
//   gdr_pair     GPU 1b000 / HCA 0        enabled, disabled; as the line names the pair
//   dmabuf       0                        available; by CUDA device
//   graph        rings                    24.0; GB/s between hosts that NCCL expects of its rings
//   channels     collective, collnet,     8
//                nvls, p2p, p2p_per_peer
//   p2p          isAllDirectP2p, …        0; as NCCL names them; chunk_size: 131072
//   nvls         multicast                available, not available
//   mnnvl        fabric                   0.0 cliqueId 0x0 state 3 healthMask 0x0
//                used, clique,            1, 7ffe,
//                clique_size, rack        8, 1821325191342
//   cc           mode, work_fifo_bytes    Off, 1048576
//   affinity     0                        0-31; by CUDA device
//   ring         0                        0 1 2 3; by channel, from rank 0 of a communicator
//
// What scripts, `env` and launchers say; NCCL may have read something else:
//   script       NCCL_DEBUG               INFO
//   launch       world size, nodes,       64, 8, 8
//                processes (of a node)
// What PyTorch says is in force:
//   torch        TORCH_NCCL_BLOCKING_WAIT 0
//                TIMEOUT(ms)              600000; of the group of all ranks
struct Setting {
  static constexpr std::string_view kKind = "setting";
  std::string group;
  std::string name;
  std::string value;
  std::int64_t thread = 0;
  bool operator==(const Setting&) const = default;
};
BOOST_DESCRIBE_STRUCT(Setting, (), (group, name, value, thread))

// Two ranks of a communicator were connected: one fact for all the lines that differ only in the
// channel. The line names no communicator; its thread or the lines before it show which one it is.
struct PeerConnection {
  static constexpr std::string_view kKind = "peer_connection";
  int from = 0;  // -1: a switch that reduces (COLLNET)
  int to = 0;
  std::string direction;  // send, receive; empty if one line stands for both
  std::string transport;  // P2P/CUMEM, P2P/IPC, SHM/direct, NET/IB, NET/Socket, COLLNET/SHARP
  int device = -1;        // NET: index of the NIC among the process's devices
  bool gdr = false;
  bool shared = false;            // "/Shared": point-to-point traffic
  std::optional<int> proxy_rank;  // PXN: the rank whose NIC is used
  int channels = 1;               // lines like this one
  std::int64_t thread = 0;
  bool operator==(const PeerConnection&) const = default;
};
BOOST_DESCRIBE_STRUCT(PeerConnection, (),
                      (from, to, direction, transport, device, gdr, shared, proxy_rank, channels,
                       thread))

// A step of setting up or connecting was done: "bootstrap", "init", "rings", "trees",
// "binomial trees", "nvls", "collnet", "p2p".
struct SetupStep {
  static constexpr std::string_view kKind = "setup_step";
  std::string step;
  std::optional<double> seconds;  // how long it took, if the line says so
  std::int64_t thread = 0;
  bool operator==(const SetupStep&) const = default;
};
BOOST_DESCRIBE_STRUCT(SetupStep, (), (step, seconds, thread))

// An error on its way up NCCL's call stack: "transport/net.cc:1227 -> 6".
struct BackTrace {
  static constexpr std::string_view kKind = "back_trace";
  std::string place;        // transport/net.cc:1227
  int code = 0;             // ncclResult_t
  std::string thread_name;  // "Progress Thread", "Async thread", …; empty if not printed
  std::int64_t thread = 0;
  bool operator==(const BackTrace&) const = default;
};
BOOST_DESCRIBE_STRUCT(BackTrace, (), (place, code, thread_name, thread))

}  // namespace faultline
