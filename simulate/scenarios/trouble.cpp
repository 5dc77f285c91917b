#include "simulate/scenarios/trouble.h"

#include <chrono>

#include "simulate/scenario.h"

namespace faultline::simulation {
namespace {

using namespace std::chrono_literals;

// Before the job, whatever time zone a log is read in, and after the hosts booted.
constexpr auto kLongAgo = 30h;
constexpr auto kUp = 36h;  // at least

void start_hosts(Injection& it) {
  for (int host = 0; host < it.cluster.hosts(); ++host) {
    const std::string name = Cluster::host_name(host);
    if (it.plan.hosts.started(name)) continue;
    it.plan.hosts.boot(
        it.cluster, name,
        beginning_of(1) - kUp -
            std::chrono::seconds(chance(it.job.options.seed, 0xb007, host) % 40'000));
  }
}

Victim bystander(Injection& it, const Trouble& trouble, Victim victim) {
  victim.pid += 40'000;
  if (trouble.whole_host || it.chance.below(2) == 0) {
    victim.index = it.cluster.hosts();
    victim.host = Cluster::host_name(victim.index);
    it.plan.hosts.boot(it.cluster, victim.host, beginning_of(1) - kUp);
  } else {
    victim.local = it.cluster.gpus_per_host();
  }
  return victim;
}

bool is_collective(const Call& call) { return !is_peer_to_peer(call.function) && call.count > 1; }

}  // namespace

Twin kind_of_twin(const Injection& it) {
  if (it.kind_of_twin != Twin::usual) return it.kind_of_twin;
  const std::string_view kinds = scenario_named(it.scenario)->twins;
  return twin_named(kinds.substr(0, kinds.find(' '))).value_or(Twin::usual);
}

std::string Victim::gpu_slot(const Cluster& cluster) const {
  const std::string address = gpu(cluster);
  return address.substr(0, address.rfind('.'));
}

Victim victim_of(const Injection& it, int rank, Place place) {
  return {.host = it.cluster.host_name_of(rank),
          .index = it.cluster.host_of(rank),
          .local = it.cluster.local_of(rank),
          .pid = it.cluster.kernel_pid(rank, it.attempt),
          .when = it.time_of(place)};
}

bool is_twin(Injection& it, const Trouble& trouble, const Victim& victim) {
  start_hosts(it);
  if (!it.twin) return false;
  Victim other = victim;
  switch (kind_of_twin(it)) {
    case Twin::old:
      other.when = beginning_of(1) - kLongAgo;
      other.pid += 40'000;
      trouble.happens(it, other);
      break;
    case Twin::bystander:
      trouble.happens(it, bystander(it, trouble, victim));
      break;
    case Twin::benign:
      trouble.is_harmless(it, victim);
      break;
    case Twin::usual:
      break;
  }
  return true;
}

std::optional<Stopped> stop_by(Injection& it, const Trouble& trouble) {
  const int rank = it.any_rank();
  const Place place = it.any_place(rank, is_collective);
  const Victim victim = victim_of(it, rank, place);
  if (is_twin(it, trouble, victim)) return std::nullopt;
  it.stop(rank, place);
  it.blame_communicator(rank, it.call_at(rank, place).slot);
  trouble.happens(it, victim);
  return Stopped{rank, place, victim};
}

}  // namespace faultline::simulation
