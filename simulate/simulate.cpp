#include "simulate/simulate.h"

#include <fmt/format.h>

#include <memory>
#include <numeric>

#include "simulate/log_writer.h"
#include "simulate/scenario.h"

namespace faultline::simulation {
namespace {

Injection injected(const Job& job, std::string_view name, int attempt, bool twin) {
  const Scenario& scenario = *scenario_named(name);
  Injection injection(job, attempt, twin);
  if (!twin || scenario.prepares) scenario.inject(injection);
  injection.truth.cause = twin ? "" : scenario.cause;
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
