// RefusalLimit: decides which refusals are logged. A refusal that keeps coming, or comes from
// everywhere, is only counted, so that a flood of refusals does not flood the log.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "service/clock.h"

namespace faultline {

class RefusalLimit {
 public:
  static constexpr int kMostOfAPeer = 5;  // for one reason, in a minute
  static constexpr int kMost = 100;       // of all together, in a minute
  static constexpr std::size_t kMostPeers = 256;

  struct Unsaid {
    std::string reason;
    std::string peer;  // empty: of many peers, which are not told apart
    std::int64_t count = 0;
  };

  // Whether to log this refusal; otherwise it is counted.
  bool may_say(std::string_view reason, std::string_view peer, SteadyTime now);

  // Returns what was counted of peers whose minute is over (or of all peers), and forgets it.
  std::vector<Unsaid> take_unsaid(SteadyTime now);
  std::vector<Unsaid> take_all_unsaid() { return take_unsaid(SteadyTime::max()); }

 private:
  struct Tally {
    SteadyTime since;
    int said = 0;
    std::int64_t unsaid = 0;
  };
  using Key = std::pair<std::string, std::string>;  // reason and peer

  std::map<Key, Tally> tallies_;
  SteadyTime minute_{};  // when the minute of all together began
  int said_ = 0;
};

}  // namespace faultline
