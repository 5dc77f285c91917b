// What a fault of a machine is to the job, seen from when it was: one answer for all families.
#pragma once

#include <string>
#include <vector>

#include "rules/detect/detector.h"

namespace faultline {

struct Placed {
  Phase phase = Phase::during;
  std::string host;   // empty: not known
  bool tied = false;  // to a rank that stopped, by its process or its GPU
};

// Where there is none, nobody asks whether a fault was in its time: the question is what ails the
// host.
bool tells_of_a_job(const View& view);

// What was at another time is not the job's. What ranks outlived accuses nobody, nor does what no
// clock places and nobody waits for.
void place_in_time(const View& view, const Placed& placed, Suspicion& suspicion);

// Faults that would have stopped the job, and did not: it came to its end. They are mentioned, and
// accuse nobody.
void spare_what_was_outlived(const View& view, std::vector<Suspicion>& suspicions);

// A program that surely says it ended well takes back what its own log told before: that is only
// mentioned, too.
void spare_what_its_log_takes_back(const View& view, std::vector<Suspicion>& suspicions);

}  // namespace faultline
