// CollectHistory: what was collected before, so that nothing is collected twice or too often, also
// after a restart.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <string>

#include "ship/collect/wanted.h"

namespace faultline {

struct CollectPace {
  std::chrono::seconds same_again{300};  // the same kind for the same job
  std::size_t most_in_an_hour = 60;
};

class CollectHistory {
 public:
  // `folder`: of the agent's state; empty: nothing is kept.
  CollectHistory(std::filesystem::path folder, CollectPace pace);

  // Why this must not be collected now; empty: it may be.
  std::string refusal(const CollectRequest& wanted);
  // Before it is collected: a crash must not lead to a second time. False: it cannot be written.
  bool add(const CollectRequest& wanted);

 private:
  struct Entry {
    std::string id;
    std::string kind;
    std::string job;
    std::int64_t at = 0;  // seconds of the system's clock
  };
  void read();
  bool write() const;

  const std::filesystem::path folder_;
  const CollectPace pace_;
  std::deque<Entry> entries_;  // oldest first
};

}  // namespace faultline
