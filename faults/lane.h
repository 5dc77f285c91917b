// A lane runs rounds of one kind, one after the other; parallel lanes share the rounds of one task.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "faults/life.h"
#include "faults/random.h"
#include "faults/verdict.h"

namespace faultline::faults {

struct FailedRound {
  std::uint64_t rounds_before = 0;
  std::vector<std::string> reasons;
};

// The results of all rounds of a kind.
struct Tally {
  std::uint64_t rounds = 0;  // in which the fault struck
  std::uint64_t missed = 0;  // in which it did not; they prove nothing
  std::uint64_t impossible = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t refused = 0;
  std::uint64_t unanswered = 0;
  std::uint64_t checks = 0;
  std::map<std::uint64_t, FailedRound> failures;  // by the seed of the round
  std::map<std::uint64_t, std::string> choices;   // by the seed of the round
};

struct Task {
  std::string_view kind;
  Programs programs;
  std::filesystem::path folder;  // for the folders of servers
  std::filesystem::path keep;    // for the folders of failed rounds; empty: none are kept
  std::uint64_t rounds = 0;
  std::uint64_t first_seed = 1;  // the seeds of the other rounds follow
  bool syncs_lie = false;
  std::mutex mutex;  // guards what follows
  std::uint64_t begun = 0;
  Tally tally;
};

class Lane {
 public:
  Lane(Task& task, std::size_t number) : task_(task), number_(number) {}

  const Programs& programs() const { return task_.programs; }
  bool syncs_lie() const { return task_.syncs_lie; }
  // The seeds of the next rounds, which share something: no more than `most`, and never more than
  // one multiple of it apart. So seeds share the same whichever round is the first. Empty: all
  // rounds are taken.
  std::vector<std::uint64_t> next_seeds(std::uint64_t most);
  // A folder that no other lane uses.
  std::filesystem::path folder() const;
  // `life`: whose folder is kept if the round failed.
  void report(std::uint64_t seed, const Verdict& verdict, Life& life);
  // The harness itself cannot go on.
  void break_down(const std::string& why);

 private:
  Task& task_;
  std::size_t number_;
};

using Round = void (*)(Life& life, Random& random, Verdict& verdict);

struct Course {
  Round round = nullptr;
  std::size_t rounds_of_a_life = 25;  // then a new life begins, so that little must be read back
  bool has_twin = true;               // its end is compared with a server without faults
  bool starts = true;                 // the round finds a server that has served a little
};

// Runs the rounds of a lane, in one life after the other.
void run_course(Lane& lane, const Course& course);

}  // namespace faultline::faults
