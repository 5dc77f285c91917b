// The answers that weights are fitted to: every cause that was stated of simulated jobs and of
// labelled logs, with the terms that it was stated by and whether it was so.
#pragma once

#include <filesystem>
#include <vector>

#include "accuracy/fit.h"
#include "accuracy/reading.h"

namespace faultline::accuracy {

// Every fourth seed and every fifth family is held out.
std::vector<FitSample> samples_of_jobs(const Doctor& doctor, const WeightTable& table,
                                       const std::vector<Family>& families, std::uint64_t first,
                                       std::uint64_t seeds, unsigned threads);

// Each counts as many times as a simulated one as real logs are fewer.
std::vector<FitSample> samples_of_logs(const Doctor& doctor, const WeightTable& table,
                                       const std::filesystem::path& folder);

}  // namespace faultline::accuracy
