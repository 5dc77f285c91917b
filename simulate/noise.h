// Kernel lines of the job's hosts that have nothing to do with the job: harmless ones, frightening
// ones, and real faults of another time.
#pragma once

#include <string_view>
#include <vector>

#include "simulate/job.h"

namespace faultline {

struct NoiseFile {
  std::string_view name;
  std::string_view text;
};

const std::vector<NoiseFile>& noise_files();  // of simulate/noise/

}  // namespace faultline

namespace faultline::simulation {

// Adds the noise that the job's options ask for to some of its hosts.
void add_noise(const Job& job, int attempt, Plan& plan);

}  // namespace faultline::simulation
