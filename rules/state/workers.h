// Workers: the ranks of the job. A process with one GPU is one worker; a process that drives
// several GPUs is several. A worker's rank is its rank in the largest communicator, the job's
// world.
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
  int rank = -1;  // -1: nothing tells its place in the job
  ProcessKey process;
  std::string host;
  std::string sender_host;  // where the sender says it runs, if that is another name
  std::int64_t pid = 0;
  std::string gpu;                   // 0000:3b:00.0; empty if no line tells
  std::vector<std::size_t> members;  // indices into Progress::members()
};

struct Workers {
  std::vector<Worker> all;             // by rank
  std::vector<std::size_t> of_member;  // worker of Progress::members()[i], if it was asked for
  int expected = 0;                    // the size of the world; 0 if none is known
  // By the name that they give their machine, and that its sender does. Empty: they name none.
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_host;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_sender_host;
  std::map<ProcessKey, std::vector<std::size_t>> by_process;
  std::map<int, std::vector<std::size_t>> by_rank;

  // Whose machine has this name. In a container NCCL prints the container's name; then the sender
  // knows the machine's.
  const std::vector<std::size_t>& on(std::string_view host) const;
  // The same, and those of whom no line tells where they are.
  std::vector<std::size_t> perhaps_on(std::string_view host) const;
  const std::vector<std::size_t>& of_rank(int rank) const;
  const std::vector<std::size_t>& of_process(const ProcessKey& process) const;
};

// Of these members (indices into Progress::members(), ascending).
Workers workers_of(const Progress& progress, const std::vector<Communicator>& communicators,
                   const std::vector<std::size_t>& members);

}  // namespace faultline
