#include "simulate/simulate.h"

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "simulate/launcher_log.h"
#include "simulate/log_writer.h"
#include "simulate/noise.h"
#include "simulate/scenario.h"
#include "simulate/torch_dump.h"
#include "simulate/torch_log.h"

namespace faultline::simulation {
namespace {

void inject(Injection& injection, std::string_view name) {
  const Scenario& scenario = *scenario_named(name);
  injection.scenario = name;
  if (!injection.twin || scenario.prepares) scenario.inject(injection);
  injection.truth.cause = injection.twin ? "" : scenario.cause;
}

// Injects a second scenario into the same job; if it is a fault, on another host than the first.
void inject_also(Injection& injection, const Options& options) {
  if (options.also.empty()) return;
  const Truth first = std::exchange(injection.truth, {});
  const std::vector<std::string>& hosts = first.may_name.hosts;
  injection.twin = options.also_healthy;
  injection.kind_of_twin = options.also_twin;
  for (int host = 0; host < injection.cluster.hosts(); ++host)
    if (!injection.twin && !hosts.empty() && Cluster::host_name(host) == hosts.front())
      injection.spared_host = host;
  inject(injection, options.also);
  Truth second = std::exchange(injection.truth, first);
  if (second.cause.empty()) return;
  if (first.cause.empty())
    injection.truth = std::move(second);
  else
    injection.truth.also.push_back(std::move(second));
}

Injection injected(const Job& job, std::string_view name, int attempt, bool twin) {
  Injection injection(job, attempt, twin);
  if (attempt == job.options.attempts) injection.kind_of_twin = job.options.twin;
  inject(injection, name);
  if (attempt == job.options.attempts) {
    inject_also(injection, job.options);
    add_noise(job, attempt, injection.plan);
  }
  return injection;
}

struct File {
  std::string name;
  std::vector<int> ranks;
};

std::vector<File> files_of(const Job& job) {
  const std::string_view what = job.options.shown.nccl ? "nccl" : "train";
  const Cluster& cluster = job.cluster;
  std::vector<int> all(static_cast<std::size_t>(cluster.ranks()));
  std::iota(all.begin(), all.end(), 0);
  if (job.options.layout == Layout::merged) return {{fmt::format("logs/{}.log", what), all}};
  std::vector<File> files;
  for (const int rank : all) {
    const std::string host = cluster.host_name_of(rank);
    if (job.options.layout == Layout::per_rank)
      files.push_back({fmt::format("logs/{}/{}.rank{}", host, what, rank), {rank}});
    else if (cluster.local_of(rank) == 0)
      files.push_back({fmt::format("logs/{}/{}.log", host, what), {rank}});
    else
      files.back().ranks.push_back(rank);
  }
  return files;
}

// An attempt, and how PyTorch ends it.
struct Run {
  Run(const Job& job, int number, Plan plan) : attempt(job, number, std::move(plan)) {
    const Evidence& shown = job.options.shown;
    if (shown.watchdog || shown.launcher) hang.emplace(attempt);
  }
  Attempt attempt;
  std::optional<TorchHang> hang;
};

void write_processes(Output& output, const Run& run, const std::vector<int>& ranks,
                     std::uint64_t salt) {
  const Evidence& shown = run.attempt.job.options.shown;
  if (shown.nccl) write_log(output, run.attempt, ranks, salt);
  if (shown.watchdog) write_torch_log(output, run.attempt, *run.hang, ranks);
}

void write_dumps(Output& output, const Run& run) {
  const Job& job = run.attempt.job;
  for (int rank = 0; rank < job.cluster.ranks(); ++rank) {
    const RankPlan& plan = run.attempt.plan_of(rank);
    if (plan.killed || !plan.raises.empty() || plan.init != InitStop::none) continue;
    const TorchCalls calls(run.attempt, rank, static_cast<std::size_t>(job.options.recorded));
    output.put(
        fmt::format("logs/{}/{}", job.cluster.host_name_of(rank), dump_name(job.options, rank)),
        flight_dump(job.options, calls));
  }
}

}  // namespace

Truth simulate(const Options& options, Output& output) {
  const Job job(options);
  std::vector<std::unique_ptr<Run>> runs;
  for (int number = 1; number < options.attempts; ++number)
    runs.push_back(
        std::make_unique<Run>(job, number, injected(job, "rank_behind", number, false).plan));
  Injection last = injected(job, options.scenario, options.attempts, options.healthy);
  const Truth truth = last.truth;
  runs.push_back(std::make_unique<Run>(job, options.attempts, std::move(last.plan)));

  const Evidence& shown = options.shown;
  std::uint64_t salt = 0;
  for (const File& file : files_of(job)) {
    ++salt;
    if (!shown.nccl && !shown.watchdog) break;
    if (options.layout != Layout::per_rank) {
      output.open(file.name);
      for (const auto& run : runs) write_processes(output, *run, file.ranks, salt);
      output.close();
      continue;
    }
    // A rank opens a file of its own each time it starts.
    for (const auto& run : runs) {
      if (run->attempt.plan_of(file.ranks.front()).init == InitStop::absent) continue;
      output.open(runs.size() == 1
                      ? file.name + ".log"
                      : fmt::format("{}.attempt{}.log", file.name, run->attempt.number));
      write_processes(output, *run, file.ranks, salt);
      output.close();
    }
  }
  const Run& ended = *runs.back();
  if (shown.dumps) write_dumps(output, ended);
  if (shown.launcher)
    for (int host = 0; host < job.cluster.hosts(); ++host)
      if (const std::string text = torchrun_log(ended.attempt, *ended.hang, host); !text.empty())
        output.put(fmt::format("logs/{}/torchrun.log", Cluster::host_name(host)), text);
  const Plan& plan = ended.attempt.plan;
  if (shown.hosts) {
    for (const auto& [name, text] : plan.hosts.files(options)) output.put("logs/" + name, text);
    for (const auto& [name, text] : plan.files) output.put("logs/" + name, text);
  }
  output.put("truth.json", truth_json(truth, options, job.version.name));
  return truth;
}

}  // namespace faultline::simulation
