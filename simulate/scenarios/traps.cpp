// Healthy jobs that look wrong.
#include <fmt/format.h>

#include "simulate/scenarios/families.h"
#include "simulate/warnings.h"

namespace faultline::simulation {

void healthy(Injection&) {}

// Mixture of experts: each pair of ranks exchanges as much as its tokens need, or nothing.
void healthy_alltoall_uneven(Injection& it) { it.plan.all_to_all = true; }

// Logging was switched on, or the log was rotated, in mid-run: on all ranks, or on some.
void healthy_late_start(Injection& it) {
  const bool all = it.chance.below(2) == 0;
  const int step = it.any_step();
  for (int rank = 0; rank < it.cluster.ranks(); ++rank)
    if (all || it.chance.below(3) == 0) it.of(rank).first = {step, it.chance.index(4)};
}

void healthy_harmless_warns(Injection& it) {
  const int host = it.any_host();
  const Place place{it.any_step(), 0};
  for (const int rank : it.ranks_of_host(host))
    it.say_at(rank, place, port_event(it.version, Cluster::nic_name(0), PortEvent::active));
  const std::string again =
      it.version.since(23, 4)   ? "NET/IB : mlx5_1:1 Got async error event: client reregistration"
      : it.version.since(20, 3) ? "NET/IB : mlx5_1:1 Got async event : client reregistration"
                                : "NET/IB : Got async event : client reregistration";
  if (!it.version.since(28, 7))
    for (const int rank : it.ranks_of_host(it.any_host()))
      it.say_at(
          rank, place,
          warning(Thread::async_event, "transport/net_ib.cc:101", "ncclIbAsyncThreadMain", again));
  // A process that ends cleanly, but closes its sockets in an unlucky order.
  const int rank = it.any_rank();
  it.last_words(rank,
                {warning(Thread::service, "misc/socket.cc:464", "socketTryAccept",
                         it.version.since(23, 4)
                             ? "socketTryAccept: Accept failed: Software caused connection abort"
                             : "Call to accept failed : Software caused connection abort"),
                 warning(Thread::service, "proxy.cc:1521", "ncclProxyService",
                         fmt::format("[Proxy Service {}] Failed to execute operation Close "
                                     "from rank {}, retcode 3",
                                     rank, rank))});
}

// Calls are captured once; their replays print nothing.
void healthy_cuda_graphs(Injection& it) {
  it.plan.replayed_steps = it.program.steps() - std::min(3, it.program.steps());
}

// The logs were copied while the job ran.
void healthy_subset_of_calls(Injection& it) { it.plan.destroys = false; }

// A port that no rank uses goes down, or was never up.
void healthy_unused_port(Injection& it) {
  it.plan.common.unused_port = true;
  if (!it.version.since(20, 3)) return;
  for (const int rank : it.ranks_of_host(it.any_host()))
    it.say_at(rank, {it.program.steps() / 2, 0},
              port_event(it.version, "mlx5_bond_0", PortEvent::error));
}

}  // namespace faultline::simulation
