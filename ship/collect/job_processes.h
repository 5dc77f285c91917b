// The processes of a job on this host.
#pragma once

#include <map>
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
  unsigned user = 0;
  unsigned group = 0;
  Variables variables;
};

// The logs that are shipped for a job, by their paths, with their ranks; -1: not known.
using LogsOfJob = std::map<std::string, int>;

// Those that live and whose environment names the job, or that write one of its logs; and of one of
// the ranks if any are given. First the process of each rank, then what it started, then those of
// no rank. Never this process: a debugger would stop who waits for it.
std::vector<JobProcess> processes_of_job(const std::string& proc, const std::string& job,
                                         const std::set<int>& ranks, const LogsOfJob& logs);

// Any user can name the job in an environment; root need not. Then it is not known which processes
// are the job's.
bool are_of_several_users(const std::vector<JobProcess>& processes);

// The letter that /proc/PID/stat has for the state of a process; 'X': it is gone.
char state_of_process(const std::string& proc, int id);

}  // namespace faultline
