// Groups in whose collectives PyTorch's watchdogs timed out: which ranks waited there, and which
// did not come.
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

// A group, as the ranks that timed out in it report it.
struct StuckGroup {
  std::string group;  // its name; empty: not known
  std::string description;
  bool local = false;           // the name is a number that means another group on other ranks
  bool point_to_point = false;  // only its Sends and Recvs
  bool whole_job = false;       // as far as is known, all ranks belong to it
  std::vector<TimedOut> waits;  // the first of each rank
  std::uint64_t sequence = 0;   // in which most wait
  std::string operation;
  std::set<int> waiting;  // ranks that wait at `sequence`

  std::string name() const;
  std::string place() const;  // "ALLREDUCE 42 of default_pg"
};

std::vector<StuckGroup> stuck_groups(const TorchCrew& crew);

// By the wall clock, in microseconds; nullopt: not known.
std::optional<std::int64_t> waited_since(const StuckGroup& stuck);

// The group that began to wait first; other groups may wait because of it.
const StuckGroup& first_stuck(const std::vector<StuckGroup>& all);

ProgressTable table_of_timeouts(const View& view, const TorchCrew& crew,
                                const std::vector<StuckGroup>& all);

// If all ranks but some timed out, in whatever group: the ranks that report no timeout are the ones
// that the others wait for.
ProgressTable table_of_the_free(const View& view, const TorchCrew& crew,
                                const std::vector<StuckGroup>& all);

}  // namespace faultline
