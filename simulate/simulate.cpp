#include "simulate/simulate.h"

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <utility>

#include "simulate/log_writer.h"
#include "simulate/scenario.h"

namespace faultline::simulation {
namespace {

void inject(Injection& injection, std::string_view name) {
  const Scenario& scenario = *scenario_named(name);
  injection.scenario = name;
  if (!injection.twin || scenario.prepares) scenario.inject(injection);
  injection.truth.cause = injection.twin ? "" : scenario.cause;
}

// A second scenario in what the first has made of the job; another host, if it is a fault.
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
  if (attempt == job.options.attempts) inject_also(injection, job.options);
  return injection;
}

struct File {
  std::string name;
  std::vector<int> ranks;
};

std::vector<File> files_of(const Job& job) {
  const Cluster& cluster = job.cluster;
  std::vector<int> all(static_cast<std::size_t>(cluster.ranks()));
  std::iota(all.begin(), all.end(), 0);
  if (job.options.layout == Layout::merged) return {{"logs/nccl.log", all}};
  std::vector<File> files;
  for (const int rank : all) {
    const std::string host = cluster.host_name_of(rank);
    if (job.options.layout == Layout::per_rank)
      files.push_back({fmt::format("logs/{}/nccl.rank{}", host, rank), {rank}});
    else if (cluster.local_of(rank) == 0)
      files.push_back({fmt::format("logs/{}/nccl.log", host), {rank}});
    else
      files.back().ranks.push_back(rank);
  }
  return files;
}

}  // namespace

Truth simulate(const Options& options, Output& output) {
  const Job job(options);
  std::vector<std::unique_ptr<Attempt>> attempts;
  for (int number = 1; number < options.attempts; ++number)
    attempts.push_back(
        std::make_unique<Attempt>(job, number, injected(job, "rank_behind", number, false).plan));
  Injection last = injected(job, options.scenario, options.attempts, options.healthy);
  const Truth truth = last.truth;
  attempts.push_back(std::make_unique<Attempt>(job, options.attempts, std::move(last.plan)));

  std::uint64_t salt = 0;
  for (const File& file : files_of(job)) {
    ++salt;
    if (options.layout != Layout::per_rank) {
      output.open(file.name);
      for (const auto& attempt : attempts) write_log(output, *attempt, file.ranks, salt);
      output.close();
      continue;
    }
    // A rank opens a file of its own each time it starts.
    for (const auto& attempt : attempts) {
      if (attempt->plan_of(file.ranks.front()).init == InitStop::absent) continue;
      output.open(attempts.size() == 1
                      ? file.name + ".log"
                      : fmt::format("{}.attempt{}.log", file.name, attempt->number));
      write_log(output, *attempt, file.ranks, salt);
      output.close();
    }
  }
  const Plan& plan = attempts.back()->plan;
  for (const auto& [name, text] : plan.hosts.files(options)) output.put("logs/" + name, text);
  for (const auto& [name, text] : plan.files) output.put("logs/" + name, text);
  output.put("truth.json", truth_json(truth, options, job.version.name));
  return truth;
}

}  // namespace faultline::simulation
