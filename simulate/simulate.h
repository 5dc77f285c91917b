// Writes the logs of a synthetic job, and what is true of it. The same options, the same bytes.
#pragma once

#include "simulate/output.h"
#include "simulate/truth.h"

namespace faultline::simulation {

// logs/… and truth.json; options must have been checked.
Truth simulate(const Options& options, Output& output);

}  // namespace faultline::simulation
