// What a diagnosis of a simulated job's logs should find.
#pragma once

#include <string>
#include <vector>

#include "model/finding.h"
#include "simulate/options.h"

namespace faultline::simulation {

struct Truth {
  std::string cause;        // a class of the taxonomy; empty: nothing is wrong
  Subject subject;          // what a diagnosis must name
  Subject may_name;         // and what it may name without being wrong
  std::vector<Truth> also;  // the other cause of a job that has two
};

// DIR/truth.json
std::string truth_json(const Truth& truth, const Options& options, std::string_view nccl_version);

}  // namespace faultline::simulation
