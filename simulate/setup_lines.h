// What NCCL prints while a process starts and its communicators are set up.
#pragma once

#include <string>

#include "simulate/communicators.h"
#include "simulate/voice.h"

namespace faultline::simulation {

// One rank's view of one communicator.
struct Membership {
  const Communicator* communicator = nullptr;
  int index = 0;  // of the communicator among all
  int slot = 0;
  int rank = 0;  // in the communicator
  std::uint64_t pointer = 0;
  std::uint64_t stream = 0;
  std::uint64_t id = 0;      // 0: not printed
  std::uint64_t parent = 0;  // of a split
};

// Which rank sets up, in which process, on which GPU.
struct SetupContext {
  const Cluster* cluster = nullptr;
  const Voice* voice = nullptr;
  const Plan* plan = nullptr;
  const Setup* setup = nullptr;  // of this process
  int world_rank = 0;
  int cuda_device = 0;
  int bus_of = 0;  // the GPU in the host
};

// Once per process up to 2.21, where it is rank 0 of a communicator.
void write_version(std::string& out, const SetupContext& context);
void write_process_start(std::string& out, const SetupContext& context);
void write_network(std::string& out, const SetupContext& context, const Membership& member);
void write_init_start(std::string& out, const SetupContext& context, const Membership& member);
void write_bootstrap_done(std::string& out, const SetupContext& context, const Membership& member);
// The rank looks at its machine; it needs no other rank for this.
void write_affinity(std::string& out, const SetupContext& context, const Membership& member);
// All ranks have exchanged what they know.
void write_topology(std::string& out, const SetupContext& context, const Membership& member);
// `done`: the connections succeed.
void write_connections(std::string& out, const SetupContext& context, const Membership& member,
                       bool done = true);
void write_init_complete(std::string& out, const SetupContext& context, const Membership& member);
// At the first Send and Recv with a peer.
void write_peer_connection(std::string& out, const SetupContext& context, const Membership& member,
                           int peer, bool sends);
void write_destroy(std::string& out, const SetupContext& context, const Membership& member);
void write_abort(std::string& out, const SetupContext& context, const Membership& member);

// Whether this rank's part of a ring over all members goes through a NIC.
bool ring_leaves_host(const Cluster& cluster, const Communicator& communicator, int rank);

}  // namespace faultline::simulation
