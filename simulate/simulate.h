// Writes the logs of a synthetic job, and the truth about it. The same options give the same bytes.
#pragma once

#include "simulate/output.h"
#include "simulate/truth.h"

namespace faultline::simulation {

// logs/… and truth.json; options must have been checked.
Truth simulate(const Options& options, Output& output);

}  // namespace faultline::simulation
