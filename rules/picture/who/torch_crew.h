// The ranks of the job, by the lines of PyTorch, launchers and NCCL together.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "rules/picture/view.h"
#include "rules/picture/who/source_attempts.h"

namespace faultline {

class TorchCrew {
 public:
  explicit TorchCrew(const View& view);

  // The ranks of the view's attempt.
  const std::vector<const TorchRank*>& ranks() const { return ranks_; }

  // The number of the job's ranks; 0: not known.
  int expected() const { return expected_; }
  // Every rank that a line names, and all ranks if their number is known.
  const std::set<int>& world() const { return world_; }

  std::string host_of(int rank) const;  // empty: not known
  Subject subject_of(const std::set<int>& ranks) const;
  std::string people(const std::set<int>& ranks) const;  // "Rank 5 on node-0", "Ranks 1, 2"

  bool in_attempt(const LineRef& line) const;

  // Whether lines of this rank would be here; if not, its silence means nothing.
  bool would_be_heard(int rank) const;

 private:
  void fill_gaps();

  const View& view_;
  SourceAttempts source_attempts_;
  std::vector<const TorchRank*> ranks_;
  std::map<int, std::string> hosts_;
  std::map<int, std::string> gpus_;
  std::set<int> world_;
  int expected_ = 0;
  bool one_log_ = false;  // all lines are in one log
};

// False for a process that was told to end: it is not the reason why the job ended.
bool ended_by_itself(const ProcessExit& exit);

// When the call that timed out was made; unknown if its line has no date.
EventTime called_at(const TorchTimeout& timeout);

// Whether a was printed before b, as far as positions and stamps show.
Order said_order(const LineRef& a, const LineRef& b);

}  // namespace faultline
