// The processes of a job on this host.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ship/process_labels.h"

namespace faultline {

struct JobProcess {
  int id = 0;
  int parent = 0;
  int rank = -1;
  char state = '?';
  Variables variables;
};

// Those that live and whose environment names the job, and one of the ranks if any are given. First
// the process of each rank, then what it started, then those of no rank. Never this process: a
// debugger would stop who waits for it.
std::vector<JobProcess> processes_of_job(const std::string& proc, const std::string& job,
                                         const std::set<int>& ranks);

// The jobs that have ranks on this host.
std::set<std::string> jobs_with_ranks(const std::string& proc);

// The letter that /proc/PID/stat has for the state of a process; 'X': it is gone.
char state_of_process(const std::string& proc, int id);

// A file of /proc or /sys, up to `most` bytes; empty if it cannot be read.
std::string read_small_file(const std::string& path, std::size_t most = std::size_t{64} << 10);

}  // namespace faultline
