// Runs families over seeds and makes tables of the results.
#pragma once

#include <string>
#include <vector>

#include "accuracy/decisive.h"
#include "accuracy/judgement.h"

namespace faultline::accuracy {

struct Run {
  std::size_t family = 0;
  std::uint64_t seed = 0;
  Score score;
  std::vector<Score> baselines;
  // Only for a job with one fault whose diagnosis is right.
  WithoutDecisive without_source;
  WithoutDecisive without_lines;
};

// Runs every family with so many seeds. The number of threads does not change the result.
std::vector<Run> run_all(const std::vector<Family>& families, std::uint64_t first,
                         std::uint64_t seeds, unsigned threads);

// For docs/accuracy.md. The same runs give the same bytes.
std::string tables(const std::vector<Family>& families, const std::vector<Run>& runs);

// What went wrong, one line each.
std::string troubles(const std::vector<Family>& families, const std::vector<Run>& runs);

// Mean distance between stated and observed confidence, weighted by the number of answers.
double calibration_error(const std::vector<Stated>& stated);

}  // namespace faultline::accuracy
