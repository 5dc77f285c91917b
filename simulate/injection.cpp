#include "simulate/injection.h"

#include <fmt/format.h>

#include <algorithm>

namespace faultline::simulation {
namespace {

template <class Value>
void add(std::vector<Value>& values, Value value) {
  if (std::find(values.begin(), values.end(), value) == values.end())
    values.push_back(std::move(value));
}

Plan healthy_plan(const Job& job) {
  Plan plan;
  plan.common = {.version = &job.version, .nics = job.cluster.nics_per_host()};
  return plan;
}

const Plan& no_plan() {
  static const Plan none;
  return none;
}

}  // namespace

Injection::Injection(const Job& its_job, int its_attempt)
    : job(its_job),
      attempt(its_attempt),
      version(job.version),
      cluster(job.cluster),
      communicators(job.communicators),
      program(cluster, communicators, version, no_plan()),
      chance(simulation::chance(job.options.seed, 0x1417, its_attempt)),
      plan(healthy_plan(job)) {}

int Injection::any_rank() { return chance.index(cluster.ranks()); }
int Injection::any_rank_but_first() { return 1 + chance.index(cluster.ranks() - 1); }
int Injection::any_host() { return chance.index(cluster.hosts()); }

int Injection::any_step() {
  const int steps = program.steps();
  const int first = steps / 3;
  return first + chance.index(std::max(1, steps - first - 1));
}

void Injection::say_at(int rank, Place at, Words words) {
  RankPlan& its = of(rank);
  its.words.push_back(std::move(words));
  edit(rank, at, 0,
       {{.function = Function::speak, .root = static_cast<int>(its.words.size()) - 1}});
}

void Injection::blame_rank(int rank) {
  add(truth.subject.ranks, rank);
  blame_host(cluster.host_of(rank));
}
void Injection::blame_host(int host) { add(truth.subject.hosts, Cluster::host_name(host)); }
void Injection::blame_gpu(int rank) {
  add(truth.subject.gpus,
      cluster.host_name_of(rank) + "/" + cluster.pci_address(cluster.local_of(rank)));
}
void Injection::blame_nic(int host, int nic) {
  add(truth.subject.nics, fmt::format("{}/{}:1", Cluster::host_name(host), Cluster::nic_name(nic)));
}
void Injection::blame_communicator(int rank, int slot) {
  const int it = communicators.seats(rank)[static_cast<std::size_t>(slot)].communicator;
  if (const std::uint64_t id = communicators.id(it, attempt))
    add(truth.subject.communicators, fmt::format("0x{:x}", id));
}

std::string Injection::peer_address(int rank) {
  return fmt::format("{}<{}>", cluster.address(cluster.host_of(rank)),
                     32'768 + simulation::chance(job.options.seed, 0xadd2, rank) % 28'000);
}

}  // namespace faultline::simulation
