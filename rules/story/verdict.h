// The verdict: how the job ended, or, if it did not, how it stands.
#pragma once

#include <vector>

#include "rules/picture/view.h"
#include "rules/story/candidate.h"

namespace faultline {

// The worse of two.
Verdict worse(Verdict a, Verdict b);

// What ended the job.
enum class Ending {
  none,              // nothing that is known: it stands, works, or was not seen to end
  exit,              // a process that ended by itself, before anybody gave up waiting
  time_out,          // somebody waited until a watchdog or a wait gave up
  exit_or_time_out,  // both, and no clock tells which came first
};
Ending ending_of(const View& view, const std::vector<Candidate>& candidates);

// places: by candidate. otherwise: the verdict if nothing was found.
Verdict verdict_of(const std::vector<Candidate>& candidates, const std::vector<Place>& places,
                   Ending ending, Verdict otherwise);

}  // namespace faultline
