// The training loop: what every rank calls in every step.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "simulate/call.h"
#include "simulate/communicators.h"
#include "simulate/plan.h"

namespace faultline::simulation {

class Program {
 public:
  Program(const Cluster& cluster, const Communicators& communicators, const NcclVersion& version,
          const Plan& plan);

  int steps() const { return steps_; }
  int longest_step() const { return longest_step_; }  // in calls

  // The step without edits.
  const std::vector<Call>& written(int rank, int step) const;

  // The step with this rank's edits. The result may refer to `scratch`.
  const std::vector<Call>& of(int rank, int step, std::vector<Call>& scratch) const;

  // The first call of a step for which `wanted` holds; -1: none.
  template <class Wanted>
  int find(int rank, int step, Wanted&& wanted) const {
    const std::vector<Call>& calls = written(rank, step);
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (wanted(calls[i])) return static_cast<int>(i);
    return -1;
  }

 private:
  struct Kind {
    int stage;
    bool first, norm, barrier;
    auto operator<=>(const Kind&) const = default;
  };
  Kind kind_of(int rank, int step) const;
  std::vector<Call> write(const Kind& kind) const;
  void exchange_tokens(int rank, int step, std::vector<Call>& calls) const;

  const Cluster& cluster_;
  const Communicators& communicators_;
  const Plan& plan_;
  int steps_;
  int longest_step_ = 0;
  int half_;  // bfloat16 if this version has it, else float16
  std::map<Kind, std::vector<Call>> written_;
};

// The calls at [from, result) are one launch.
std::size_t launch_end(const std::vector<Call>& calls, std::size_t from);

}  // namespace faultline::simulation
