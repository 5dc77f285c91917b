// Which rank a tool means: maps its communicators and ranks, addresses and pids to the job's.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

struct ReportedPerson {
  int rank = -1;     // in the job; -1: not known
  std::string host;  // its name, else its address
  std::string gpu;   // 0000:3b:00.0
  std::string name;  // "Rank 7 (process 4711 on 10.0.0.7)"
  std::string communicator;
  int rank_in_communicator = -1;

  // Identifies the process, even if only one communicator names it.
  std::string key;
};

// `nranks`: of the communicator; `world`: of the job, 0 if not known. Without a communicator, the
// tool named only the process.
ReportedPerson person_of(const View& view, const std::string& communicator, int rank, int nranks,
                         const ReportedProcess& process, int world);

// The job's size by its logs; else by the largest communicator that a tool named.
int world_of(const View& view);

// Whether NCCL's own lines show where this communicator's ranks stand.
bool told_by_calls(const View& view, const std::string& communicator);

Subject subject_of_people(const std::vector<ReportedPerson>& people);
std::string names_of(const std::vector<ReportedPerson>& people);

}  // namespace faultline
