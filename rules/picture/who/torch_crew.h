// The ranks of the job, as PyTorch's lines, the launchers and NCCL's together tell of them.
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

  // Those of the attempt of the job that is looked at.
  const std::vector<const TorchRank*>& ranks() const { return ranks_; }

  // How many the job has, if something tells; else 0.
  int expected() const { return expected_; }
  // Every rank that some line names, and all of them where their number is known.
  const std::set<int>& world() const { return world_; }

  std::string host_of(int rank) const;  // empty: not known
  Subject subject_of(const std::set<int>& ranks) const;
  std::string people(const std::set<int>& ranks) const;  // "Rank 5 on node-0", "Ranks 1, 2"

  bool in_attempt(const LineRef& line) const;

  // Whether what this rank says would have been sent: else its silence means nothing.
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
  bool one_log_ = false;  // all lines stand in it
};

// Whoever was told to end is not why the job ended.
bool ended_by_itself(const ProcessExit& exit);

// When the call that timed out was made; nothing, if its line has no date.
EventTime called_at(const TorchTimeout& timeout);

// Whether a was said before b, as far as stamps and places tell.
Order said_order(const LineRef& a, const LineRef& b);

}  // namespace faultline
