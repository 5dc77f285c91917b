// Asks the RAS service of NCCL, which each of its processes offers to its host, what it knows of
// the job.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace faultline {

struct RasReport {
  std::string text;
  std::string failure;  // why there is none
};

RasReport ask_ras_service(std::uint16_t port, std::chrono::milliseconds longest,
                          std::size_t most_bytes, const std::atomic<bool>& stopped);

}  // namespace faultline
