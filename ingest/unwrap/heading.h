// A heading: a line that says from whom the lines below it are, and when they were said. A host's
// syslog daemon writes to all terminals:
//   Message from syslogd@gpu-node-7 at Mar  5 02:47:11 ...
//    kernel:[  592.970198] watchdog: BUG: soft lockup - CPU#4 stuck for 23s! [python3:4242]
// MPI names the rank above the calls that it came through:
//   Abort(7) on node 5 (rank 5 in comm 0): Fatal error in PMPI_Init: Other MPI error, error stack:
//   MPIR_Init_thread(138)........:
// And a logger labels only the first line of a traceback, or puts the same prefix before each line,
// in a form that no layer needs to know:
//   [2026-03-05 02:47:11 TP13] Scheduler hit an exception: Traceback (most recent call last):
//     File "train.py", line 3, in step
//   2026-03-05 02:47:11,123 | ERROR | [Rank 5] Traceback (most recent call last):
//   2026-03-05 02:47:11,124 | ERROR | [Rank 5]   File "train.py", line 3, in step
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/unwrap/peeled.h"
#include "ingest/unwrap/saved.h"
#include "model/time.h"

namespace faultline {

class Heading {
 public:
  // True: the text is the heading of a syslog daemon, and nothing else.
  bool begin_wall(std::string_view text, Timestamp reference);

  // Passes over lines that are certainly no rows.
  void pass(std::uint64_t lines);

  // A line of the source begins.
  void next_line() { told_ = false; }

  // For each line as it lies in the source: if it is a row, gives it what the heading says. True:
  // it did. The line's host is then a view that ends when the heading changes.
  bool tell(Peeled& line);

  // For each line after unwrapping: takes off the prefix of the heading. The line may be a heading
  // itself, beside what it says.
  void read(Peeled& line);

  bool empty() const { return of_ == Of::nothing; }

  void save(SavedWriter& saved) const;
  void restore(SavedReader& saved);

 private:
  enum class Of { nothing, wall, stack, traceback };

  bool knows(std::string_view text) const;
  void begin(Of of, const Peeled& line);
  bool take_prefix(Peeled& line);

  Of of_ = Of::nothing;
  bool told_ = false;      // the line in hand got what the heading says
  std::string prefix_;     // of a traceback's first line
  bool prefixed_ = false;  // its rows have it, too
  int foreign_ = 0;        // other lines since the last row
  std::string host_;
  Peeled known_;  // do not use its views
};

}  // namespace faultline
