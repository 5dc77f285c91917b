// Writes the logs of ranks that share a file, in turns, as their launcher would receive the lines.
#pragma once

#include <vector>

#include "simulate/job.h"
#include "simulate/output.h"

namespace faultline::simulation {

// Writes to the file that is open. `salt` gives each file random numbers of its own.
void write_log(Output& output, const Attempt& attempt, const std::vector<int>& ranks,
               std::uint64_t salt);

}  // namespace faultline::simulation
