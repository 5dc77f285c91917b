// A line that tells who says the lines below it, and when. A host's syslog daemon writes to all
// terminals:
//   Message from syslogd@gpu-node-7 at Mar  5 02:47:11 ...
//    kernel:[  592.970198] watchdog: BUG: soft lockup - CPU#4 stuck for 23s! [python3:4242]
// MPI names the rank above the calls that it came through:
//   Abort(7) on node 5 (rank 5 in comm 0): Fatal error in PMPI_Init: Other MPI error, error stack:
//   MPIR_Init_thread(138)........:
// And a logger labels the first line of a traceback alone:
//   [2026-03-05 02:47:11 TP13] Scheduler hit an exception: Traceback (most recent call last):
//     File "train.py", line 3, in step
#pragma once

#include <string>
#include <string_view>

#include "ingest/unwrap/peeled.h"
#include "ingest/unwrap/saved.h"
#include "model/time.h"

namespace faultline {

class Heading {
 public:
  // True: the text is such a heading of a syslog daemon's, and says nothing else.
  bool begin_wall(std::string_view text, Timestamp reference);

  // The line is out of its wrapping; it may be a heading beside what it says.
  void read(const Peeled& line);

  // To each line as it lies in the source: tells it what the heading told, while it is below it.
  void tell(Peeled& line);

  bool empty() const { return of_ == Of::nothing; }

  void save(SavedWriter& saved) const;
  void restore(SavedReader& saved);

 private:
  enum class Of { nothing, wall, stack, traceback };

  bool knows(std::string_view text) const;

  Of of_ = Of::nothing;
  std::string host_;
  Peeled known_;  // its views are not to be used
};

}  // namespace faultline
