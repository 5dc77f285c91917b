// Runs families over seeds and puts what came of it into tables.
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
  // Of a job with one fault whose diagnosis is right.
  WithoutDecisive without_source;
  WithoutDecisive without_lines;
};

// Every family with so many seeds; on several threads, and the same whatever their number.
std::vector<Run> run_all(const std::vector<Family>& families, std::uint64_t first,
                         std::uint64_t seeds, unsigned threads);

// For docs/accuracy.md: the same runs, the same bytes.
std::string tables(const std::vector<Family>& families, const std::vector<Run>& runs);

// What went wrong, a line for each.
std::string troubles(const std::vector<Family>& families, const std::vector<Run>& runs);

// Mean distance of stated from observed, weighed by how often it was stated.
double calibration_error(const std::vector<Stated>& stated);

}  // namespace faultline::accuracy
