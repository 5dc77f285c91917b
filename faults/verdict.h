// How a round ended.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace faultline::faults {

struct Verdict {
  bool struck = false;   // the fault is known to have happened
  bool possible = true;  // false: this machine does not allow it
  std::uint64_t acknowledged = 0;
  std::uint64_t refused = 0;     // answered with another status than 200
  std::uint64_t unanswered = 0;  // and the client had not hung up
  std::uint64_t checks = 0;      // states that were compared with the ledger
  // Rounds of the same life before it, which are needed to repeat it.
  std::uint64_t rounds_before = 0;
  std::string choice;  // what its seed chose, in words, if the seed alone decides it
  std::vector<std::string> failures;

  bool good() const { return failures.empty(); }
  void fail(std::string why) { failures.push_back(std::move(why)); }
  void fail_with(const std::vector<std::string>& reasons) {
    failures.insert(failures.end(), reasons.begin(), reasons.end());
  }
};

}  // namespace faultline::faults
