// Whom a tool means: its communicators and ranks, addresses and pids, in the words of the job.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "rules/picture/view.h"

namespace faultline {

struct ReportedPerson {
  int rank = -1;     // of the job; -1: not known
  std::string host;  // its name, else its address
  std::string gpu;   // 0000:3b:00.0
  std::string name;  // "Rank 7 (process 4711 on 10.0.0.7)"
  std::string communicator;
  int rank_in_communicator = -1;

  // What tells persons apart, also where only one communicator names them.
  std::string key;
};

// `nranks`: of the communicator; `world`: of the job, 0 if not known. An empty id: the tool named
// the process alone.
ReportedPerson person_of(const View& view, const std::string& communicator, int rank, int nranks,
                         const ReportedProcess& process, int world);

// The job's size by logs, else by the largest communicator that a tool named.
int world_of(const View& view);

// Whether NCCL's own lines tell where this communicator's ranks stand.
bool told_by_calls(const View& view, const std::string& communicator);

Subject subject_of_people(const std::vector<ReportedPerson>& people);
std::string names_of(const std::vector<ReportedPerson>& people);

}  // namespace faultline
