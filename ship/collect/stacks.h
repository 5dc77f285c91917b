// What the threads of the processes of a job do.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "ship/collect/evidence.h"
#include "ship/collect/job_processes.h"
#include "ship/collect/run_command.h"

namespace faultline {

struct StackLimits {
  CommandLimits of_each;
  std::size_t most_processes = 16;
  std::chrono::milliseconds time{120'000};  // of all together
};

Gathered gather_stacks(const std::vector<JobProcess>& processes, const std::string& proc,
                       CommandRunner& commands, const StackLimits& limits,
                       const std::atomic<bool>& stopped);

// What /proc says of each thread.
std::string threads_in_proc(const std::string& proc, int process, std::size_t most_bytes);

}  // namespace faultline
