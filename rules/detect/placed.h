// What a fault of a machine means for the job, by the time of the fault: one answer for all
// families.
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

// Whether any log tells of a job. If none does, the question is what is wrong with the host, and
// the time of a fault does not matter.
bool tells_of_a_job(const View& view);

// A fault at another time is not of the job. A fault that ranks outlived accuses nobody, nor does a
// fault without a known time on a host that nobody waits for.
void place_in_time(const View& view, const Placed& placed, Suspicion& suspicion);

// If the job ended well, faults that would have stopped it are only mentioned, and accuse nobody.
void spare_what_was_outlived(const View& view, std::vector<Suspicion>& suspicions);

// If a program surely says that it ended well, faults that its own log reported before are only
// mentioned, too.
void spare_what_its_log_takes_back(const View& view, std::vector<Suspicion>& suspicions);

}  // namespace faultline
