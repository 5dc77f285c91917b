// A synthetic job: what is the same in every attempt, and one attempt.
#pragma once

#include "model/time.h"
#include "simulate/communicators.h"
#include "simulate/plan.h"
#include "simulate/program.h"
#include "simulate/schedule.h"

namespace faultline::simulation {

struct Job {
  explicit Job(const Options& checked_options);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  Options options;
  NcclVersion version;
  Cluster cluster;
  Communicators communicators;
};

// The first attempt begins on 5 March 2026 at 02:00.
Timestamp beginning_of(int attempt);
// From the beginning of an attempt until training begins.
inline constexpr std::chrono::seconds kTraining{30};
// From one call of a rank to its next.
inline constexpr std::chrono::microseconds kCallTime{21'000};

struct Attempt {
  // `number` counts from 1. The plan must have been made for the job.
  Attempt(const Job& job, int number, Plan plan);
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  const RankPlan& plan_of(int rank) const;
  Timestamp begin() const;

  const Job& job;
  int number;
  Plan plan;
  Program program;
  std::vector<Stand> stands;  // by rank
};

}  // namespace faultline::simulation
