// Groups in whose collectives PyTorch's watchdogs timed out: who waited there, and who did not
// come.
#pragma once

#include "rules/picture/calls/progress_table.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {

struct TimedOut {
  int rank = -1;
  const TorchTimeout* timeout = nullptr;

  std::uint64_t sequence() const { return timeout->timeout.sequence.value_or(0); }
  const std::string& operation() const { return timeout->timeout.operation; }
};

// A group, as those that time out in it tell of it.
struct StuckGroup {
  std::string group;  // its name; empty: the lines do not say
  std::string description;
  bool local = false;           // a number that means another group elsewhere
  bool point_to_point = false;  // of its Sends and Recvs alone
  bool whole_job = false;       // all ranks belong to it, as far as is known
  std::vector<TimedOut> waits;  // one of each rank, its first
  std::uint64_t sequence = 0;   // that most wait in
  std::string operation;
  std::set<int> waiting;  // there

  std::string name() const;
  std::string place() const;  // "ALLREDUCE 42 of default_pg"
};

std::vector<StuckGroup> stuck_groups(const TorchCrew& crew);

// By the wall clock, in microseconds; nothing: no line tells.
std::optional<std::int64_t> waited_since(const StuckGroup& stuck);

// The group that began to wait first; the others may wait behind it.
const StuckGroup& first_stuck(const std::vector<StuckGroup>& all);

ProgressTable table_of_timeouts(const View& view, const TorchCrew& crew,
                                const std::vector<StuckGroup>& all);

// Everybody else timed out somewhere: who reports none is who they wait for, whichever the group.
ProgressTable table_of_the_free(const View& view, const TorchCrew& crew,
                                const std::vector<StuckGroup>& all);

}  // namespace faultline
