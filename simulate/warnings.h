// NCCL's warnings, as each version words them, with the back-traces that follow.
#pragma once

#include <string>
#include <vector>

#include "simulate/plan.h"

namespace faultline::simulation {

Words warning(Thread thread, std::string place, std::string function, std::string message);
Words info(Thread thread, std::string message);

struct Frame {
  std::string place;     // transport/net.cc:1134
  std::string function;  // printed from 2.30.7 on
};
// The lines of an error on its way up the stack. `thread_name`: of the last frame, "Progress
// Thread".
std::vector<Words> back_trace(const NcclVersion& version, Thread thread, int code,
                              const std::vector<Frame>& frames, std::string_view thread_name = {});

// What a completion with an error says.
struct Completion {
  int status = 12;
  bool sends = true;
  std::string peer;       // 10.0.0.12<51544>
  std::string local_gid;  // of RoCE; empty on InfiniBand
  std::string remote_gid;
  std::string hca;  // mlx5_1
  int device = 0;
};
std::vector<Words> completion_error(const NcclVersion& version, const Completion& completion);

// Whether an error of the network becomes one of the communicator; if not, it is lost on its way.
bool network_errors_surface(const NcclVersion& version);

enum class PortEvent { fatal, error, active };
Words port_event(const NcclVersion& version, const std::string& nic, PortEvent event);

std::vector<Words> connect_failed(const NcclVersion& version, const std::string& address);
std::vector<Words> closed_by_peer(const NcclVersion& version, const std::string& peer);
std::vector<Words> memory_lock(const NcclVersion& version);
std::vector<Words> too_many_files(const NcclVersion& version);
std::vector<Words> shared_memory_full(const NcclVersion& version);
std::vector<Words> out_of_gpu_memory(const NcclVersion& version);
std::vector<Words> illegal_access(const NcclVersion& version);
std::vector<Words> invalid_root(const NcclVersion& version, int root, int ranks);
std::vector<Words> duplicate_gpu(const NcclVersion& version, int rank, int other,
                                 std::uint64_t bus);
std::vector<Words> mismatched_versions(const NcclVersion& version, int rank, const NcclVersion& its,
                                       const NcclVersion& first);

}  // namespace faultline::simulation
