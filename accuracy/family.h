// The families of simulated jobs on which diagnoses are judged: every scenario, alone and with
// things beside it that may mislead.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/options.h"

namespace faultline::accuracy {

// Which logs of the job are missing.
enum class Loss {
  nothing,
  half_of_hosts,   // NCCL's logs of every second host
  told_by_hosts,   // the output of kernels and tools; only the stop is left
  calls,           // NCCL_DEBUG_SUBSYS without COLL
  but_the_middle,  // the beginning and the end of NCCL's logs
};

enum class Group {
  healthy,      // nothing is wrong, though it may look so
  twin,         // the job of a fault, without the fault
  fault,        // one fault, with all logs
  bystander,    // one fault, and another of a part that the job does not use
  old,          // one fault, and another that ended long before
  noise,        // one fault, and lines that mean nothing or follow from the end
  incomplete,   // half of the logs, or of their lines
  unexplained,  // only the stop
  two_causes,
  kernels,  // kernel logs with unrelated lines: now, before or at an unknown time
  no_boot,  // kernel logs without the lines of the boot
  pods,     // pids that are equal across hosts
  excerpt,  // the middle of each log
  ending,   // a death that the launcher reports, or a hang
};
std::string_view name_of(Group group);

struct Family {
  std::string name;
  Group group = Group::fault;
  simulation::Options options;  // the scenarios, and how many lines are lost
  Loss loss = Loss::nothing;
};

std::vector<Family> families();

// The kinds of unrelated kernel lines.
inline constexpr simulation::Noise kNoisy[] = {simulation::Noise::today, simulation::Noise::hours,
                                               simulation::Noise::day, simulation::Noise::undated};

// The job of a family for a seed. The seed chooses sizes, version, wrapper and layout.
simulation::Options options_of(const Family& family, std::uint64_t seed);

}  // namespace faultline::accuracy
