// When each rank made its last call, as far as lines with a date tell: those of NCCL, and PyTorch's
// time-outs, which say how long ago the call was made. What stops a rank stops it at once, so
// whoever made calls long after something was not stopped by it.
#pragma once

#include <map>
#include <string>

#include "rules/detect/detector.h"

namespace faultline {

class DatedCalls {
 public:
  explicit DatedCalls(const View& view);

  // Whether every rank that this part could hold up made calls long after `time`.
  bool went_on_after(const std::string& host, const Subject& subject, const EventTime& time) const;

 private:
  bool is_long_before_calls_of(const Worker& worker, const EventTime& time) const;

  const View& view_;
  std::map<int, EventTime> timed_out_;  // by rank: when it made the last call that timed out
};

// Of a job whose ranks never came to have a communicator: whether its processes began long after
// `time`. What came soon before them may be what keeps them from starting.
bool is_long_before_processes(const View& view, const EventTime& time);

// A fault that ought to stop its rank, and did not for long.
void say_that_the_job_went_on(Suspicion& suspicion);

}  // namespace faultline
