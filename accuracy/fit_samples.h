// The answers that weights are fitted to: every cause that was stated for simulated jobs and
// labelled logs, with the terms of its confidence and whether it was right.
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

// Each counts several times, since real logs are fewer than simulated ones.
std::vector<FitSample> samples_of_logs(const Doctor& doctor, const WeightTable& table,
                                       const std::filesystem::path& folder);

}  // namespace faultline::accuracy
