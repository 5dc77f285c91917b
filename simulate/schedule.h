// How far each rank gets when something holds one of them up. A launch ends when all that take part
// have begun theirs; a rank begins one after the other, and its program runs a little ahead.
#pragma once

#include <vector>

#include "simulate/program.h"

namespace faultline::simulation {

struct Stand {
  bool finished = false;  // did all it had to do
  Place inside;           // the launch that does not end; equal to `end`: it stands between two
  Place end;              // the first call, as the rank makes them, that it did not enqueue
};

// `from`: the step before which nothing is out of the ordinary.
std::vector<Stand> stands(const Cluster& cluster, const Communicators& communicators,
                          const Program& program, int from);

}  // namespace faultline::simulation
