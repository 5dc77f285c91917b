// How far each rank gets when something holds one rank up. A launch ends when all its members have
// begun it; a rank begins its launches one after the other, and its program runs a little ahead.
#pragma once

#include <vector>

#include "simulate/program.h"

namespace faultline::simulation {

struct Stand {
  bool finished = false;  // made all its calls
  Place inside;           // the launch that does not end; if equal to `end`, it stands between two
  Place end;              // the first of its calls that it did not enqueue
};

// `from`: all steps before it are the same as in a healthy job.
std::vector<Stand> stands(const Cluster& cluster, const Communicators& communicators,
                          const Program& program, int from);

}  // namespace faultline::simulation
