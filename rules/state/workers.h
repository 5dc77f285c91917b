// Workers: the ranks of the job. A process with one GPU is one worker; a process with several GPUs
// is one for each. A worker's rank is its rank in the largest communicator, the job's world.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/state/communicators.h"
#include "rules/state/progress.h"

namespace faultline {

struct Worker {
  int rank = -1;  // -1: not known
  ProcessKey process;
  std::string host;
  std::string sender_host;  // the sender's name for its host
  std::int64_t pid = 0;
  std::string gpu;                   // 0000:3b:00.0; empty: not known
  std::vector<std::size_t> members;  // indices into Progress::members()
};

struct Workers {
  std::vector<Worker> all;             // by rank
  std::vector<std::size_t> of_member;  // worker of Progress::members()[i], for the given members
  int expected = 0;                    // the size of the world; 0: not known
  // By the host's name in their lines, and by the sender's name for it. Empty: none.
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_host;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_sender_host;
  std::map<ProcessKey, std::vector<std::size_t>> by_process;
  std::map<int, std::vector<std::size_t>> by_rank;

  // The workers on the host with this name. In a container NCCL prints the container's name, but
  // the sender knows the host's.
  const std::vector<std::size_t>& on(std::string_view host) const;
  // The same, and the workers whose host is not known.
  std::vector<std::size_t> perhaps_on(std::string_view host) const;
  const std::vector<std::size_t>& of_rank(int rank) const;
  const std::vector<std::size_t>& of_process(const ProcessKey& process) const;
};

// The workers of these members (indices into Progress::members(), ascending).
Workers workers_of(const Progress& progress, const std::vector<Communicator>& communicators,
                   const std::vector<std::size_t>& members);

}  // namespace faultline
