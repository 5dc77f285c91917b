// A scheduler whose nodes are guarded: what the guard sees of it, and what it does there. What
// cannot be done is an error for people to read; nothing is done by halves.
#pragma once

#include <string>
#include <vector>

#include "guard/guard_policy.h"
#include "model/result.h"

namespace faultline {

class GuardedCluster {
 public:
  virtual ~GuardedCluster() = default;

  virtual Result<std::vector<GuardNode>> nodes() = 0;

  // Keeps new jobs off the node; what runs there goes on. `mark` is found there again by nodes().
  virtual Result<void> take(const std::string& node, const GuardFinding& finding,
                            const GuardMark& mark) = 0;

  // Undoes only what take() did for the finding, and settles the node: an error if the node is not
  // as take() left it.
  virtual Result<void> give_back(const std::string& node, const std::string& finding,
                                 const std::string& why, Timestamp now) = 0;

  // Remembers that what was found until now takes the node no more. The node itself is unchanged.
  virtual Result<void> settle(const std::string& node, Timestamp now) = 0;

  // Whether nodes() may be asked for a mark of this node that it once had. False lets a guard of
  // one node ask the scheduler only when there is something to do.
  virtual bool may_have_taken(const std::string& node) = 0;
};

}  // namespace faultline
