// When each rank was heard, by its own dated lines, and the last thing that it is known to have
// done.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/finding.h"
#include "rules/state/job_state.h"

namespace faultline {

// A time, and how much later it may have been, because its timestamp is not exact.
struct Stamp {
  Timestamp time;
  std::chrono::microseconds open{0};
  bool zone_assumed = false;  // it named no zone
};

struct HeardRank {
  int rank = -1;     // -1: its place in the job is unknown
  std::string host;  // empty: not known
  std::optional<Stamp> first;
  std::optional<Stamp> last;
  // The same, only of stamps that name their time zone; the others may be hours off.
  std::optional<Stamp> firm_first;
  std::optional<Stamp> firm_last;
  std::string did;  // "last call AllGather #28 of 0x9f3c, 1 call behind"; empty: no line tells
};

struct Heard {
  std::vector<HeardRank> ranks;  // by rank
  std::vector<int> unheard;      // ranks without a line, if the rank of every process is known
  std::map<std::string, Stamp> dated;  // by finding: the stamp of its line, if that is known
};

// For the attempt that was diagnosed.
Heard heard_of(const JobState& job, const Diagnosis& diagnosis);

}  // namespace faultline
