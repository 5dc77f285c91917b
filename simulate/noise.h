// Lines of kernels that have nothing to do with the job, said by its own hosts: harmless ones,
// frightening ones, and real faults of another time.
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

// As the job's options ask for; some of its hosts say more than they would.
void add_noise(const Job& job, int attempt, Plan& plan);

}  // namespace faultline::simulation
