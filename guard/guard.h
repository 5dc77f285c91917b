// Guard: asks a server what it has found, and takes nodes of a cluster out of scheduling for it, or
// gives them back. guard_policy.h says which. If the server or the scheduler cannot be asked,
// nothing changes.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "guard/guard_cluster.h"
#include "guard/guard_findings.h"
#include "guard/guard_policy.h"

namespace faultline {

struct GuardSettings {
  ShipServer server;
  GuardLimits limits;
  bool acts = false;  // otherwise it only says what it would do
  std::string node;   // does only the steps of this one; empty: of all
};

class Guard {
 public:
  Guard(GuardSettings settings, GuardedCluster& cluster);

  // Looks once, and does what is to be done. False if it could not look, or not do it. What it
  // said in the round before it does not say again.
  bool round(Timestamp now);

 private:
  Result<std::vector<GuardFinding>> findings_for(const std::vector<GuardFinding>& open,
                                                 const std::vector<GuardNode>& nodes);
  bool is_quiet(const std::vector<GuardFinding>& open) const;
  bool do_step(const GuardStep& step, Timestamp now);
  Result<void> done_by_cluster(const GuardStep& step, Timestamp now);
  void tell(bool is_trouble, const std::string& text, const GuardStep* step = nullptr);

  const GuardSettings settings_;
  GuardedCluster& cluster_;
  GuardFindings server_;
  std::set<std::string> said_before_;
  std::set<std::string> said_;
};

}  // namespace faultline
