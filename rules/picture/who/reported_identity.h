// Which rank a tool means: maps its communicators and ranks, addresses and pids to the job's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
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

// The job's size by its logs; else by the largest communicator that a tool named.
int world_of(const View& view);

// Finds whom tools mean. Made once for all processes that a report names.
class ReportedPeople {
 public:
  explicit ReportedPeople(const View& view);

  // `nranks`: of the communicator. Without a communicator, the tool named only the process.
  ReportedPerson of(const std::string& communicator, int rank, int nranks,
                    const ReportedProcess& process) const;

  // Whether NCCL's own lines show where this communicator's ranks stand.
  bool told_by_calls(const std::string& communicator) const;

  int world() const { return world_; }

 private:
  // Members with one rank in one communicator: the last one, and the last one by its pid.
  struct Inits {
    std::size_t last = 0;
    std::map<std::int64_t, std::size_t> by_pid;
  };
  struct SamePid {
    std::vector<const Worker*> all;
    std::vector<const Worker*> of_any_device;  // it is not known
    std::map<int, std::vector<const Worker*>> by_device;
  };
  struct InWorld {
    std::size_t order = 0;
    int rank = -1;
  };

  const Worker* worker_by_init(const std::string& communicator, int rank, std::int64_t pid) const;
  const Worker* worker_by_pid(const ReportedProcess& process) const;
  int rank_in_world(const ReportedProcess& process) const;

  const View& view_;
  int world_ = 0;
  std::map<std::pair<std::string, int>, Inits> inits_;
  std::map<std::int64_t, SamePid> workers_;
  // The first of each device, -1 if it is not known; by pid and host.
  std::map<std::pair<std::int64_t, std::string>, std::map<int, InWorld>> in_world_;
  std::set<std::string> told_by_calls_;
};

Subject subject_of_people(const std::vector<ReportedPerson>& people);
std::string names_of(const std::vector<ReportedPerson>& people);

}  // namespace faultline
