// What a server says of jobs while their logs arrive, in each of the ways in which they can: asked
// after every request, and once nothing more comes.
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
  std::chrono::seconds patience;  // --stall-after; a job must be sent in less
  std::uint64_t seed = 1;
  std::size_t every = 1;  // only one of so many jobs
  unsigned threads = 1;
};

// What went wrong with one job that came in one way.
struct MomentTrouble {
  std::string job;
  std::string what;
};

struct WayScore {
  Way way{};
  std::size_t jobs = 0;
  std::size_t moments = 0;
  std::vector<MomentTrouble> healthy;    // said of a job with a fault, with two ranks heard
  std::vector<MomentTrouble> innocent;   // a part accused that has no fault
  std::vector<MomentTrouble> alarms;     // a fault told of a job that has none
  std::vector<MomentTrouble> withdrawn;  // an accusation that the last answer does not make
  std::vector<MomentTrouble> otherwise;  // the last answer is not that of the files in a folder
};

// Each fault, and the job without it.
std::vector<WayScore> run_moments(const Moments& wishes, const std::vector<Family>& all);

std::string moment_tables(const std::vector<WayScore>& scores, bool list_all);
bool all_is_well(const std::vector<WayScore>& scores);

}  // namespace faultline::accuracy
