// The moment a job is looked at, and what is known from outside it.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/finding.h"
#include "model/time.h"

namespace faultline {

// What another job's diagnosis had found on a part.
struct PastOffence {
  std::string part;  // gpu-node-3/0000:3b:00.0, gpu-node-3/mlx5_2:1, gpu-node-3: as findings do
  Cause cause = Cause::none;
  std::string job;
  std::optional<Timestamp> when;  // by its lines
  // Where the lines of either job have no time: it was found before anything of this job came.
  bool found_before = true;
  std::string uuid;                // of the GPU, as that job knew it: boards are replaced
  Evidence evidence;               // a line of that job; none: line 0
  bool others_were_clean = false;  // no other GPU of that job had trouble of this class
};

// The moment a job is looked at. Rules read no clock.
struct Moment {
  Timestamp now;
  std::set<std::string, std::less<>> live_sources;     // being written: their end is not an end
  std::set<std::string, std::less<>> waiting_sources;  // open, whether or not anything comes
  // What comes later than that is taken not to come: a log that is being written and says no more,
  // a communicator that does not move. 0: nothing is being written.
  std::chrono::microseconds stall_after{0};
  Timestamp watched_since{};  // what came before is known, but nobody saw it end
  // By ids of findings: since when each is suspected, which were told, and which an operator has
  // called wrong.
  std::map<std::string, Timestamp, std::less<>> suspected_since;
  std::set<std::string, std::less<>> told;
  std::set<std::string, std::less<>> wrong;
  std::vector<PastOffence> past_offences;  // of the parts that the job runs on
};

}  // namespace faultline
