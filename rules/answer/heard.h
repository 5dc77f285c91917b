// When each rank was heard, by lines of its own that carry a date, and the last that it is known to
// have done.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/finding.h"
#include "rules/state/job_state.h"

namespace faultline {

// A time, and how much later than that it may have been: what its stamp leaves open.
struct Stamp {
  Timestamp time;
  std::chrono::microseconds open{0};
  bool zone_assumed = false;  // it named no zone
};

struct HeardRank {
  int rank = -1;     // -1: nothing tells its place in the job
  std::string host;  // empty: not known
  std::optional<Stamp> first;
  std::optional<Stamp> last;
  // The same of the stamps that name their zone, if some do: beside them others may be hours off.
  std::optional<Stamp> firm_first;
  std::optional<Stamp> firm_last;
  std::string did;  // "last call AllGather #28 of 0x9f3c, 1 call behind"; empty: no line tells
};

struct Heard {
  std::vector<HeardRank> ranks;        // by rank
  std::vector<int> unheard;            // of which no line was seen, where it is known of all others
  std::map<std::string, Stamp> dated;  // findings whose line of that time is known
};

// Of the attempt that the diagnosis is of.
Heard heard_of(const JobState& job, const Diagnosis& diagnosis);

}  // namespace faultline
