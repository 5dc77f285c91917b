// Jobs that print little about their end.
#include <fmt/format.h>

#include <chrono>

#include "simulate/scenarios/families.h"
#include "simulate/scenarios/trouble.h"

namespace faultline::simulation {

using namespace std::chrono_literals;

// No rank is late, and no rank warns.
void collective_stalled(Injection& it) {
  const int rank = it.any_rank();
  const Place place = it.any_place(rank, [](const Call& call) {
    return call.slot == 0 && !is_peer_to_peer(call.function) && call.count > 1;
  });
  const Place at = place.step >= 0 ? place : it.any_place(rank, [](const Call& call) {
    return call.slot == 0 && !is_peer_to_peer(call.function);
  });
  it.block(it.seat(rank, 0).communicator, at);
  it.blame_communicator(rank, 0);
  it.involve_everybody();
}

namespace {

void process_faults(Injection& it, const Victim& victim) {
  it.plan.hosts.say(
      victim.host, victim.when,
      fmt::format("python3[{}]: segfault at 18 ip 00007f6a2c0b1f2d sp 00007f69d55fd7c0 error 4 in "
                  "libtorch_cuda.so[7f6a2c000000+3a0000] likely on CPU 44 (core 12, socket 0)",
                  victim.pid));
}

}  // namespace

void segfault(Injection& it) {
  const auto stopped = stop_by(it, {.happens = process_faults, .whole_host = true});
  if (!stopped) return;
  it.of(stopped->rank).killed = true;
  it.blame_rank(stopped->rank);
}

// scancel, or the end of a hang: processes are killed while their kernels run, and the driver takes
// their channels down.
void healthy_torn_down(Injection& it) {
  it.plan.destroys = false;
  for (int host = 0; host < it.cluster.hosts(); ++host) {
    const std::string name = Cluster::host_name(host);
    if (!it.plan.hosts.started(name)) it.plan.hosts.boot(it.cluster, name, beginning_of(1) - 40h);
    for (const int rank : it.ranks_of_host(host)) {
      const Victim victim = victim_of(it, rank, {0, 0});
      it.plan.hosts.say(name, beginning_of(it.attempt) + 34min + std::chrono::milliseconds(rank),
                        fmt::format("NVRM: Xid (PCI:{}): 45, pid={}, name=python3, Ch 00000008",
                                    victim.gpu_slot(it.cluster), victim.pid));
    }
  }
}

}  // namespace faultline::simulation
