// The families of simulated jobs on which diagnoses are judged: every scenario, and what may
// mislead besides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/options.h"

namespace faultline::accuracy {

// What never reached whoever diagnoses the job.
enum class Loss {
  nothing,
  half_of_hosts,   // NCCL's logs of every second host
  told_by_hosts,   // what kernels and tools said: only the stop is left
  calls,           // NCCL_DEBUG_SUBSYS without COLL
  but_the_middle,  // of NCCL's logs: no beginning, and no end
};

enum class Group {
  healthy,      // what looks wrong and is not
  twin,         // jobs with a fault, without it
  fault,        // one fault, and all that was said
  bystander,    // and a fault of a part that the job does not use
  old,          // and a fault that is over
  noise,        // and lines that mean nothing, or follow from the end
  incomplete,   // half of the logs, or of their lines
  unexplained,  // only the stop
  two_causes,
  kernels,  // kernels that say much else, now, before or at an unknown time
  no_boot,  // kernel logs that do not begin with the boot
  pods,     // pids that are equal across hosts
  excerpt,  // the middle of each log
  ending,   // who died, by its launcher
};
std::string_view name_of(Group group);

struct Family {
  std::string name;
  Group group = Group::fault;
  simulation::Options options;  // scenario, what is beside it, and how much is lost
  Loss loss = Loss::nothing;
};

std::vector<Family> families();

// What kernels say besides, by a kind of noise.
inline constexpr simulation::Noise kNoisy[] = {simulation::Noise::today, simulation::Noise::hours,
                                               simulation::Noise::day, simulation::Noise::undated};

// The job that a family has for a seed: sizes, versions, wrappers and layouts go with the seed.
simulation::Options options_of(const Family& family, std::uint64_t seed);

}  // namespace faultline::accuracy
