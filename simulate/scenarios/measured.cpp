// Jobs that run to their end. Only measurements show the fault: the job's own lines are those of a
// healthy one.
#include <fmt/format.h>

#include <array>

#include "simulate/bandwidth_table.h"
#include "simulate/profile.h"
#include "simulate/scenarios/families.h"
#include "simulate/scenarios/trouble.h"
#include "simulate/straggler_report.h"

namespace faultline::simulation {
namespace {

bool is_benign(const Injection& it) { return it.twin && kind_of_twin(it) == Twin::benign; }

// A random number in a range.
double between(Chance& chance, double least, double most) {
  return least + (most - least) * chance.fraction();
}

// --- Ranks that are late ---------------------------------------------------------------------

// A value for each rank: about the usual one, but never quite the same.
std::vector<double> usual_values(Injection& it, double usual, double apart) {
  std::vector<double> values;
  for (int rank = 0; rank < it.cluster.ranks(); ++rank)
    values.push_back(usual * (1 + apart * (2 * it.chance.fraction() - 1)));
  return values;
}

// Makes half of the ranks slower, like stages of a pipeline that have more to do.
void divide(const Injection& it, std::vector<double>& values, double factor) {
  for (int rank = it.cluster.ranks() / 2; rank < it.cluster.ranks(); ++rank)
    values[static_cast<std::size_t>(rank)] *= factor;
}

enum class Told { to_barrier, in_barrier, scores };

}  // namespace

// One of three reports: times to a barrier, longest for the slow rank; times in a barrier, shortest
// for the rank that comes last; or how fast the GPU of each rank is.
void straggler_reported(Injection& it) {
  const Told told =
      std::array{Told::to_barrier, Told::in_barrier, Told::scores}[it.chance.below(3)];
  const bool scores = told == Told::scores;
  const int rank = it.any_rank();
  std::vector<double> values =
      scores ? usual_values(it, 0.94, 0.05) : usual_values(it, between(it.chance, 60, 400), 0.08);
  if (is_benign(it)) divide(it, values, scores ? 0.85 : 1.9);
  if (!it.twin) {
    double& own = values[static_cast<std::size_t>(rank)];
    if (told == Told::to_barrier) own *= between(it.chance, 2.6, 6);
    if (told == Told::in_barrier) own *= between(it.chance, 0.02, 0.25);
    if (scores) own *= between(it.chance, 0.4, 0.7);
    it.blame_rank(rank);
  }
  it.plan.files["straggler-report.txt"] =
      scores ? gpu_scores(it.cluster, values) : barrier_times(values);
}

namespace {

// All ranks of one host, or one rank of each host.
std::vector<int> profiled_ranks(Injection& it, int with) {
  if (it.chance.below(2) == 0) return it.ranks_of_host(it.cluster.host_of(with));
  std::vector<int> ranks;
  for (int host = 0; host < it.cluster.hosts(); ++host)
    ranks.push_back(it.ranks_of_host(host)[static_cast<std::size_t>(it.cluster.local_of(with))]);
  return ranks;
}

void write_profiles(Injection& it, const ProfiledRun& run) {
  for (auto& [rank, text] : profiles_of(it.cluster, it.communicators, it.version, it.attempt, run))
    it.plan.files[fmt::format("{}/trace_rank{}.json", it.cluster.host_name_of(rank), rank)] =
        std::move(text);
}

}  // namespace

// The straggler's GPU computes longer, or waits for its program.
void straggler_profiled(Injection& it) {
  const int straggler = it.any_rank();
  ProfiledRun run{.ranks = profiled_ranks(it, straggler)};
  const bool computes = it.chance.below(2) == 0;
  // The twin: milder, and by turns on each rank, as batches of unequal lengths cause it.
  const double mild = it.twin ? 0.3 : 1;
  const Lateness late{.computes = computes ? 1 + mild * between(it.chance, 0.4, 1) : 1,
                      .idles = computes ? 0 : mild * between(it.chance, 35, 90)};
  if (is_benign(it))
    run.late = [&run, late](int rank, int step) {
      const auto turn = static_cast<std::size_t>(step) % run.ranks.size();
      return rank == run.ranks[turn] ? late : Lateness{};
    };
  if (!it.twin) {
    run.late = [=](int rank, int) { return rank == straggler ? late : Lateness{}; };
    it.blame_rank(straggler);
  }
  write_profiles(it, run);
}

void communication_bound(Injection& it) {
  ProfiledRun run{.ranks = profiled_ranks(it, it.any_rank())};
  const double slow = between(it.chance, 4, 8);
  if (is_benign(it)) run.hidden = 2.5;  // much is sent, but computation hides it
  if (!it.twin) {
    run.network = slow;
    it.involve_everybody();
  }
  write_profiles(it, run);
}

// --- nccl-tests -------------------------------------------------------------------------------

namespace {

std::string measure(const Injection& it, const BandwidthTest& test) {
  return all_reduce_perf(it.cluster, it.version, test);
}

std::string file_of(int host) { return Cluster::host_name(host) + "/all_reduce_perf.txt"; }

}  // namespace

// A link between its GPUs is down, or NCCL does not use it.
void bandwidth_low_host(Injection& it) {
  const int odd = it.any_host();
  const double part = between(it.chance, 0.15, 0.65);
  for (int host = 0; host < it.cluster.hosts(); ++host)
    it.plan.files[file_of(host)] = measure(it, {.hosts = {host}});
  const BandwidthTest low{.hosts = {odd}, .reaches = part, .salt = 1};
  if (!it.twin) {
    it.plan.files[file_of(odd)] = measure(it, low);
    it.blame_host(odd);
  } else if (is_benign(it)) {  // slow, until it was fixed and measured again
    it.plan.files[file_of(odd)].insert(0, measure(it, low));
  } else if (kind_of_twin(it) == Twin::bystander) {
    const int other = it.cluster.hosts();
    it.plan.files[file_of(other)] = measure(it, {.hosts = {other}, .reaches = part});
  }
}

// Tests each host with the next one: the host that both slow pairs share is the slow one. With two
// hosts, only an earlier run shows that they were faster.
void bandwidth_low_network(Injection& it) {
  const int hosts = it.cluster.hosts();
  const int odd = it.any_host();
  const double part = between(it.chance, 0.2, 0.65);
  std::string& text = it.plan.files["all_reduce_perf.txt"];
  if (hosts <= 2) {
    const std::vector<int> all = hosts == 2 ? std::vector<int>{0, 1} : std::vector<int>{0};
    text = measure(it, {.hosts = all});
    text += measure(it, {.hosts = all, .reaches = it.twin ? 1 : part, .salt = 1});
    if (!it.twin)
      for (const int host : all) it.blame_host(host);
    return;
  }
  for (int host = 0; host < hosts; ++host) {
    BandwidthTest test{.hosts = {host, (host + 1) % hosts}};
    if (!it.twin && (test.hosts[0] == odd || test.hosts[1] == odd)) test.reaches = part;
    // Two rows of racks with fewer links between them: no host is at fault.
    if (is_benign(it) && hosts >= 4 && (host == hosts / 2 - 1 || host == hosts - 1))
      test.reaches = 0.7;
    text += measure(it, test);
  }
  if (!it.twin) it.blame_host(odd);
}

// A test of every host alone or, in one of four jobs, of all together, which shows no host.
void wrong_results(Injection& it) {
  constexpr std::uint64_t kFrom = std::uint64_t{1} << 28;
  const int odd = it.any_host();
  if (it.chance.below(4) == 0) {
    std::vector<int> all;
    for (int host = 0; host < it.cluster.hosts(); ++host) all.push_back(host);
    it.plan.files["all_reduce_perf.txt"] =
        measure(it, {.hosts = all, .checked = !is_benign(it), .wrong_from = it.twin ? 0 : kFrom});
    if (!it.twin) it.involve_everybody();
    return;
  }
  for (int host = 0; host < it.cluster.hosts(); ++host)
    it.plan.files[file_of(host)] = measure(it, {.hosts = {host},
                                                .checked = !is_benign(it) || host != odd,
                                                .wrong_from = !it.twin && host == odd ? kFrom : 0});
  if (!it.twin) it.blame_host(odd);
  if (it.twin && kind_of_twin(it) == Twin::bystander) {
    const int other = it.cluster.hosts();
    it.plan.files[file_of(other)] = measure(it, {.hosts = {other}, .wrong_from = kFrom});
  }
}

}  // namespace faultline::simulation
