// What a scenario works with: the job as it is, and the plan and truth that it writes.
#pragma once

#include <string>
#include <vector>

#include "simulate/chance.h"
#include "simulate/job.h"
#include "simulate/truth.h"

namespace faultline::simulation {

class Injection {
 public:
  Injection(const Job& its_job, int its_attempt);

  const Job& job;
  int attempt;
  const NcclVersion& version;
  const Cluster& cluster;
  const Communicators& communicators;
  Program program;  // without a fault
  Chance chance;
  Plan plan;
  Truth truth;

  // Draws.
  int any_rank();
  int any_rank_but_first();
  int any_host();
  // A step well inside the run.
  int any_step();
  // One in which the job does `wanted`; -1 if it never does.
  template <class Wanted>
  Place any_place(int rank, Wanted&& wanted) {
    const int first = any_step();
    for (int i = 0; i < program.steps(); ++i) {
      const int step = (first + i) % program.steps();
      if (const int at = program.find(rank, step, wanted); at >= 0) return {step, at};
    }
    return {-1, -1};
  }

  const Call& call_at(int rank, Place place) const {
    return program.written(rank, place.step)[static_cast<std::size_t>(place.call)];
  }

  // Changes.
  RankPlan& of(int rank) { return plan.ranks[rank]; }
  void stop(int rank, Place before) {
    of(rank).edits.push_back({before, 0, {{.function = Function::halt}}});
  }
  void edit(int rank, Place at, int removed, std::vector<Call> calls) {
    of(rank).edits.push_back({at, removed, std::move(calls)});
  }
  void say_at(int rank, Place at, Words words);

  // The truth.
  void blame_rank(int rank);  // and its host
  void blame_host(int host);
  void blame_gpu(int rank);  // of a rank
  void blame_nic(int host, int nic);
  void blame_communicator(int rank, int slot);

  // Words that come up again.
  std::string peer_address(int rank);  // 10.0.0.12<51544>
  int nic_of(int rank) const { return cluster.local_of(rank); }
};

}  // namespace faultline::simulation
