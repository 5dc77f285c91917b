// Writes the ranks that share a file, in turns as their launcher would get their lines.
#pragma once

#include <vector>

#include "simulate/job.h"
#include "simulate/output.h"

namespace faultline::simulation {

// `ranks` of one attempt to the file that is open. `salt`: tells files apart, for chance.
void write_log(Output& output, const Attempt& attempt, const std::vector<int>& ranks,
               std::uint64_t salt);

}  // namespace faultline::simulation
