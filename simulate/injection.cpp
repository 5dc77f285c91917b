#include "simulate/injection.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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

Injection::Injection(const Job& its_job, int its_attempt, bool its_twin)
    : job(its_job),
      attempt(its_attempt),
      twin(its_twin),
      version(job.version),
      cluster(job.cluster),
      communicators(job.communicators),
      program(cluster, communicators, version, no_plan()),
      chance(simulation::chance(job.options.seed, 0x1417, its_attempt)),
      plan(healthy_plan(job)) {}

bool Injection::may_draw(int host) const { return host != spared_host || cluster.hosts() == 1; }
int Injection::any_rank() {
  int rank = chance.index(cluster.ranks());
  while (!may_draw(cluster.host_of(rank))) rank = chance.index(cluster.ranks());
  return rank;
}
int Injection::any_rank_but_first() { return 1 + chance.index(cluster.ranks() - 1); }
int Injection::any_host() {
  int host = chance.index(cluster.hosts());
  while (!may_draw(host)) host = chance.index(cluster.hosts());
  return host;
}

int Injection::any_step() {
  const int steps = program.steps();
  const int first = steps / 3;
  return first + chance.index(std::max(1, steps - first - 1));
}

Timestamp Injection::time_of(Place place) const {
  return beginning_of(attempt) + kTraining +
         kCallTime * (program.longest_step() * place.step + place.call);
}

// A step is walked once from its first call to its last, so edits are kept in the order of calls.
void Injection::edit(int rank, Place at, int removed, std::vector<Call> calls) {
  std::vector<Edit>& edits = of(rank).edits;
  const auto after = std::upper_bound(edits.begin(), edits.end(), at,
                                      [](Place a, const Edit& b) { return a < b.place; });
  edits.insert(after, {at, removed, std::move(calls)});
}

void Injection::say_at(int rank, Place at, Words words) {
  RankPlan& its = of(rank);
  its.words.push_back(std::move(words));
  edit(rank, at, 0,
       {{.function = Function::speak, .root = static_cast<int>(its.words.size()) - 1}});
}

void Injection::last_words(int rank, std::vector<Words> words) {
  std::vector<Words>& all = of(rank).last_words;
  all.insert(all.end(), std::make_move_iterator(words.begin()),
             std::make_move_iterator(words.end()));
}

void Injection::stop_in_init(int rank, InitStop stop, std::vector<Words> words) {
  of(rank).init = stop;
  of(rank).at_init = std::move(words);
}

void Injection::fail_to_connect(const std::vector<int>& failing, const std::vector<Words>& words) {
  const bool lazily = connects_lazily(version);
  for (int rank = 0; rank < cluster.ranks(); ++rank) {
    const bool fails = std::find(failing.begin(), failing.end(), rank) != failing.end();
    const std::vector<Words> its_words = fails ? words : std::vector<Words>{};
    of(rank).connects = false;
    if (!lazily) {
      stop_in_init(rank, InitStop::connecting, its_words);
      continue;
    }
    // The first call connects, and does not return.
    Call first = call_at(rank, {0, 0});
    first.broken = true;
    edit(rank, {0, 0}, 1, {first, {.function = Function::halt}});
    last_words(rank, its_words);
  }
}

void Injection::block(int communicator, Place at) {
  for (const int rank : communicators.at(communicator).members) {
    Call call = call_at(rank, at);
    call.broken = true;
    edit(rank, at, 1, {call});
  }
}

void Injection::insert_everywhere(Place at, const Call& call) {
  for (int rank = 0; rank < cluster.ranks(); ++rank) edit(rank, at, 0, {call});
}

void Injection::blame_rank(int rank) {
  add(truth.subject.ranks, rank);
  involve_rank(rank);
}
void Injection::blame_rank_without_communicator(int rank) {
  const std::string_view wrapper = job.options.wrapper;
  const bool rank_is_told = version.since(18, 3) || wrapper == "slurm" || wrapper == "mpirun";
  if (rank_is_told)
    blame_rank(rank);
  else
    blame_host(cluster.host_of(rank));
}
void Injection::blame_host(int host) {
  add(truth.subject.hosts, Cluster::host_name(host));
  involve_host(host);
}
void Injection::blame_gpu(int rank) {
  add(truth.subject.gpus,
      cluster.host_name_of(rank) + "/" + cluster.pci_address(cluster.local_of(rank)));
  involve_rank(rank);
}
void Injection::blame_nic(int host, int nic) {
  add(truth.subject.nics, fmt::format("{}/{}:1", Cluster::host_name(host), Cluster::nic_name(nic)));
}
void Injection::blame_communicator(int rank, int slot) {
  const int it = seat(rank, slot).communicator;
  if (const std::uint64_t id = communicators.id(it, attempt))
    add(truth.subject.communicators, fmt::format("0x{:x}", id));
}

void Injection::involve_rank(int rank) {
  Subject& may = truth.may_name;
  const int host = cluster.host_of(rank);
  add(may.ranks, rank);
  add(may.hosts, Cluster::host_name(host));
  const int local = cluster.local_of(rank);
  add(may.gpus, Cluster::host_name(host) + "/" + cluster.pci_address(local));
  add(may.nics, fmt::format("{}/{}:1", Cluster::host_name(host), Cluster::nic_name(local)));
}
void Injection::involve_host(int host) {
  for (const int rank : ranks_of_host(host)) involve_rank(rank);
}
void Injection::involve_everybody() {
  for (int host = 0; host < cluster.hosts(); ++host) involve_host(host);
}

std::vector<int> Injection::ranks_of_host(int host) const {
  std::vector<int> ranks;
  ranks.reserve(static_cast<std::size_t>(cluster.gpus_per_host()));
  for (int local = 0; local < cluster.gpus_per_host(); ++local)
    ranks.push_back(host * cluster.gpus_per_host() + local);
  return ranks;
}

int Injection::next_in(int slot, int rank) const {
  const Seat& its = seat(rank, slot);
  const Communicator& communicator = communicators.at(its.communicator);
  return communicator.members[static_cast<std::size_t>((its.rank + 1) % communicator.size())];
}

std::pair<int, int> Injection::distant_neighbours(int slot) {
  const int first = any_rank();
  for (int i = 0; i < cluster.ranks(); ++i) {
    const int rank = (first + i) % cluster.ranks();
    const int next = next_in(slot, rank);
    if (cluster.host_of(rank) != cluster.host_of(next)) return {rank, next};
  }
  return {-1, -1};
}

std::string Injection::peer_address(int rank) const {
  return fmt::format("{}<{}>", cluster.address(cluster.host_of(rank)),
                     32'768 + simulation::chance(job.options.seed, 0xadd2, rank) % 28'000);
}

}  // namespace faultline::simulation
