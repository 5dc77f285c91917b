// Asks the RAS service of NCCL, which each of its processes offers to its host, what it knows of
// the job.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ship/collect/job_processes.h"

namespace faultline {

struct RasReport {
  std::string text;
  std::string failure;  // why there is none
};

// The socket that listens at a port of this host is of one of these processes. Whoever is first may
// listen there: another job, or anybody. `proc`: /proc.
bool listens(const std::vector<JobProcess>& processes, const std::string& proc, std::uint16_t port);

RasReport ask_ras_service(std::uint16_t port, std::chrono::milliseconds longest,
                          std::size_t most_bytes, const std::atomic<bool>& stopped);

}  // namespace faultline
