// Ranks that come to a halt.
#include <fmt/format.h>

#include "simulate/scenarios/families.h"
#include "simulate/warnings.h"

namespace faultline::simulation {
namespace {

bool is_collective(const Call& call) { return !is_peer_to_peer(call.function) && call.count > 1; }

// Stops a rank somewhere in the run.
int stop_somewhere(Injection& it) {
  const int rank = it.any_rank();
  const Place place = it.any_place(rank, is_collective);
  it.stop(rank, place);
  it.blame_communicator(rank, it.call_at(rank, place).slot);
  return rank;
}

}  // namespace

void rank_behind(Injection& it) { it.blame_rank(stop_somewhere(it)); }

void gpu_memory_fault(Injection& it) {
  const int rank = stop_somewhere(it);
  it.last_words(rank, illegal_access(it.version));
  it.blame_rank(rank);
}

void gpu_off_bus(Injection& it) {
  const int rank = stop_somewhere(it);
  it.blame_gpu(rank);
  const int local = it.cluster.local_of(rank);
  const std::string gpu = it.cluster.pci_address(local);
  const std::string host = it.cluster.host_name_of(rank);
  const auto pid = it.cluster.pid(rank, it.attempt);
  const std::string slot = gpu.substr(0, gpu.rfind('.'));
  it.plan.files[host + "/dmesg.txt"] = fmt::format(
      "[   33.120110] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release "
      "Build\n"
      "[   52.700023] mlx5_core 0000:5e:00.0: firmware version: 28.39.1002\n"
      "[41280.701522] NVRM: GPU at PCI:{0}: GPU-5d0e11aa-0a3c-4d8e-9c77-1f21c0de00{1:02x}\n"
      "[41280.701551] NVRM: Xid (PCI:{0}): 79, pid={2}, name=python3, GPU has fallen off the bus.\n"
      "[41280.701560] NVRM: GPU {3}: GPU has fallen off the bus.\n",
      slot, local, pid, gpu);
}

}  // namespace faultline::simulation
