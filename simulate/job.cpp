#include "simulate/job.h"

#include <algorithm>

namespace faultline::simulation {
namespace {

// All steps before the first edit are the same as in a healthy job.
int first_odd_step(const Plan& plan, int steps) {
  int first = steps;
  for (const auto& [rank, rank_plan] : plan.ranks)
    for (const Edit& edit : rank_plan.edits) first = std::min(first, edit.place.step);
  return first;
}

std::vector<Stand> all_stands(const Job& job, const Plan& plan, const Program& program) {
  const int odd = first_odd_step(plan, program.steps());
  if (odd < program.steps()) return stands(job.cluster, job.communicators, program, odd);
  return std::vector<Stand>(static_cast<std::size_t>(job.cluster.ranks()),
                            Stand{true, {program.steps(), 0}, {program.steps(), 0}});
}

}  // namespace

Job::Job(const Options& checked_options)
    : options(checked_options),
      version(*closest_version(options.nccl)),
      cluster(options),
      communicators(cluster, version) {}

Attempt::Attempt(const Job& of, int number_of_it, Plan its_plan)
    : job(of),
      number(number_of_it),
      plan(std::move(its_plan)),
      program(job.cluster, job.communicators, job.version, plan),
      stands(all_stands(job, plan, program)) {}

const RankPlan& Attempt::plan_of(int rank) const {
  static const RankPlan healthy;
  const auto own = plan.ranks.find(rank);
  return own == plan.ranks.end() ? healthy : own->second;
}

Timestamp Attempt::begin() const { return beginning_of(number); }

// An attempt that hung was given up after half an hour; then came the next.
Timestamp beginning_of(int attempt) {
  constexpr Timestamp kFirst{std::chrono::seconds{1'772'676'000}};
  return kFirst + std::chrono::minutes{40} * (attempt - 1);
}

}  // namespace faultline::simulation
