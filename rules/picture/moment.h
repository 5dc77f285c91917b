// The moment at which a job is diagnosed, and what is known from outside its logs.
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

// What the diagnosis of another job found wrong with a part.
struct PastOffence {
  std::string part;  // named as in findings: gpu-node-3/0000:3b:00.0, gpu-node-3
  Cause cause = Cause::none;
  std::string job;
  std::optional<Timestamp> when;  // the time in its lines
  // Used if the lines of either job have no time: it was found before the first upload of this job.
  bool found_before = true;
  std::string uuid;                // of the GPU in that job; the board may have been replaced since
  Evidence evidence;               // a line of that job; line 0 if there is none
  bool others_were_clean = false;  // no other GPU of that job had a fault of this class
};

// The moment at which a job is diagnosed. Rules read no clock.
struct Moment {
  Timestamp now;
  std::set<std::string, std::less<>> live_sources;     // being written: more lines may come
  std::set<std::string, std::less<>> waiting_sources;  // open, even if nothing comes
  // How long a log that is being written, or a communicator, may be silent before it counts as
  // stopped. 0: nothing is being written.
  std::chrono::microseconds stall_after{0};
  Timestamp watched_since{};  // the start of this server: silence counts from here at the earliest
  // By the id of a finding: since when it is suspected; which findings were reported; which ones an
  // operator has called wrong.
  std::map<std::string, Timestamp, std::less<>> suspected_since;
  std::set<std::string, std::less<>> told;
  std::set<std::string, std::less<>> wrong;
  std::vector<PastOffence> past_offences;  // of the parts that the job runs on
};

}  // namespace faultline
