// CallTimes: when calls last came, by the server's clock. Lines of NCCL's often have no time of
// their own; and what arrives late did not stop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "model/time.h"
#include "rules/state/progress.h"

namespace faultline {

class CallTimes {
 public:
  void apply(const Entered& entered, Timestamp received) {
    if (entered.from == SIZE_MAX) return;  // known from another source
    if (entered.member >= last_.size()) last_.resize(entered.member + 1);
    last_[entered.member] = std::max(last_[entered.member], received);
  }

  // Of a member of Progress; the epoch: it has called nothing.
  Timestamp last(std::size_t member) const {
    return member < last_.size() ? last_[member] : Timestamp{};
  }

 private:
  std::vector<Timestamp> last_;
};

}  // namespace faultline
