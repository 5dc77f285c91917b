// The counters of InfiniBand's ports and of network interfaces, twice, so that their growth shows.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "ship/collect/evidence.h"
#include "ship/collect/run_command.h"

namespace faultline {

Gathered gather_port_counters(const std::string& sys, std::chrono::milliseconds between,
                              CommandRunner& commands, const CommandLimits& limits,
                              const std::atomic<bool>& stopped);

}  // namespace faultline
