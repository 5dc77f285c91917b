// Jobs that do not start.
#include <algorithm>

#include "simulate/scenarios/families.h"
#include "simulate/tool_reports.h"
#include "simulate/warnings.h"

namespace faultline::simulation {
namespace {

void everybody_stops_at(Injection& it, InitStop stop) {
  for (int rank = 0; rank < it.cluster.ranks(); ++rank) it.stop_in_init(rank, stop);
}

}  // namespace

void rank_missing(Injection& it) {
  everybody_stops_at(it, InitStop::waiting);
  const int rank = it.any_rank_but_first();
  it.stop_in_init(rank, InitStop::absent);
  it.blame_rank_without_communicator(rank);
}

// A process that hangs while it looks at its GPUs: the others have done so and wait for it.
void rank_stuck_in_init(Injection& it) {
  everybody_stops_at(it, InitStop::in_exchange);
  const int rank = it.any_rank();
  it.stop_in_init(rank, InitStop::in_topology);
  it.blame_rank_without_communicator(rank);
}

// A host cannot reach the host where rank 0 listens.
void connect_failed(Injection& it) {
  everybody_stops_at(it, InitStop::waiting);
  const int host = it.cluster.hosts() > 1 ? 1 + it.chance.index(it.cluster.hosts() - 1) : 0;
  for (const int rank : it.ranks_of_host(host))
    it.stop_in_init(rank, InitStop::waiting, connect_failed(it.version, it.peer_address(0)));
  it.blame_host(host);
  it.involve_host(0);
}

// One host has another version of NCCL in its image.
void version_mismatch(Injection& it) {
  const auto known = nccl_versions();
  std::size_t at = 0;
  while (known[at].name != it.version.name) ++at;
  const NcclVersion& other = known[at > 0 ? at - 1 : at + 1];
  const int host = it.cluster.hosts() > 1 ? 1 + it.chance.index(it.cluster.hosts() - 1) : 0;
  for (const int rank : it.ranks_of_host(host)) it.plan.own_setup(rank).version = &other;
  it.blame_host(host);
  if (it.cluster.hosts() == 2) it.involve_everybody();  // nothing shows which of the two differs
  if (it.version.since(23, 4)) {
    everybody_stops_at(it, InitStop::in_topology);
    it.involve_rank(0);  // the warning names the two that differ
    const int first = it.ranks_of_host(host).front();
    for (int rank = 0; rank < it.cluster.ranks(); ++rank) {
      const NcclVersion& own = *it.plan.setup_of(rank).version;
      if (own.since(23, 4))
        it.of(rank).at_init = mismatched_versions(own, first, other, it.version);
    }
    return;
  }
  // These versions check nothing: set-up works, until data flows.
  it.block(it.seat(0, 0).communicator, {0, 0});
}

void invalid_usage_duplicate_gpu(Injection& it) {
  if (it.cluster.gpus_per_host() < 2) return;
  everybody_stops_at(it, InitStop::in_exchange);
  const int host = it.any_host();
  const int local = 1 + it.chance.index(it.cluster.gpus_per_host() - 1);
  const int rank = it.ranks_of_host(host)[static_cast<std::size_t>(local)];
  const std::uint64_t bus = it.cluster.bus(local - 1);
  it.of(rank).cuda_device = local - 1;
  for (const auto& [who, other] : {std::pair{rank, rank - 1}, std::pair{rank - 1, rank}}) {
    it.stop_in_init(who, InitStop::in_topology, duplicate_gpu(it.version, who, other, bus));
    it.blame_rank(who);
  }
}

void shm_full(Injection& it) {
  const int host = it.any_host();
  it.plan.files[Cluster::host_name(host) + "/df.txt"] = df_shm(it.twin ? 41 : 100);
  if (it.twin) return;
  // Ranks of one host communicate through shared memory.
  it.fail_to_connect(it.ranks_of_host(host), shared_memory_full(it.version));
  it.blame_host(host);
}

namespace {

// The ranks of a host that use NICs in the first communicator.
std::vector<int> ranks_on_network(const Injection& it, int host) {
  std::vector<int> ranks = it.ranks_of_host(host);
  if (it.cluster.hosts() == 1) return {ranks.front()};
  return ranks.size() == 1 ? ranks : std::vector<int>{ranks.front(), ranks.back()};
}

}  // namespace

void memlock(Injection& it) {
  const int host = it.any_host();
  it.fail_to_connect(ranks_on_network(it, host), memory_lock(it.version));
  it.blame_host(host);
}

void open_files(Injection& it) {
  const int host = it.any_host();
  it.fail_to_connect(ranks_on_network(it, host), too_many_files(it.version));
  it.blame_host(host);
}

void cuda_oom(Injection& it) {
  const int rank = it.any_rank();
  it.fail_to_connect({rank}, out_of_gpu_memory(it.version));
  it.of(rank).raises = {
      "Traceback (most recent call last):",
      "  File \"/workspace/pretrain_gpt.py\", line 301, in <module>",
      "    main()",
      "  File \"/workspace/trainer/training.py\", line 1877, in setup_model",
      "    torch.distributed.broadcast(param.data, src=0)",
      "  File \"/usr/local/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py\", "
      "line "
      "2421, in broadcast",
      "    work = group.broadcast([tensor], opts)",
      "torch.distributed.DistBackendError: NCCL error in: "
      "/pytorch/torch/csrc/distributed/c10d/NCCLUtils.hpp:268, unhandled cuda error (run with "
      "NCCL_DEBUG=INFO for details), NCCL version " +
          std::string(it.version.name),
      "ncclUnhandledCudaError: Call to CUDA function failed.",
      "Last error:",
      "Failed to CUDA calloc 10485760 bytes",
  };
  it.blame_rank_without_communicator(rank);
}

}  // namespace faultline::simulation
