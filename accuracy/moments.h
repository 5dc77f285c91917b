// What a server answers while the logs of jobs arrive, in each way in which they can: it is asked
// after every request, and once when no more comes.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "accuracy/family.h"
#include "accuracy/ways.h"

namespace faultline::accuracy {

struct Moments {
  std::string program;            // faultline itself
  std::chrono::seconds patience;  // --stall-after; each job must be sent in less time
  std::uint64_t seed = 1;
  std::size_t every = 1;  // takes every n-th job
  unsigned threads = 1;
};

// What went wrong with one job that was sent in one way.
struct MomentTrouble {
  std::string job;
  std::string what;
};

struct WayScore {
  Way way{};
  std::size_t jobs = 0;
  std::size_t moments = 0;
  std::vector<MomentTrouble> healthy;    // said of a job with a fault, with two ranks seen
  std::vector<MomentTrouble> innocent;   // an accused part that has no fault
  std::vector<MomentTrouble> alarms;     // a fault found in a healthy job
  std::vector<MomentTrouble> withdrawn;  // an accusation that the last answer does not make
  std::vector<MomentTrouble> otherwise;  // the last answer differs from that of diagnose
};

// Sends each fault, its twins and the healthy jobs.
std::vector<WayScore> run_moments(const Moments& wishes, const std::vector<Family>& all);

std::string moment_tables(const std::vector<WayScore>& scores, bool list_all);
bool all_is_well(const std::vector<WayScore>& scores);

}  // namespace faultline::accuracy
