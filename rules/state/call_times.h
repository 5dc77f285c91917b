// CallTimes: when calls last arrived, by the server's clock. NCCL's lines often have no time; and a
// log that arrives late is not a rank that stopped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "model/bytes.h"
#include "model/time.h"
#include "rules/state/progress.h"

namespace faultline {

class CallTimes {
 public:
  void apply(const Entered& entered, Timestamp received) {
    if (entered.from == SIZE_MAX) return;  // the call is known from another source
    if (entered.member >= last_.size()) last_.resize(entered.member + 1);
    last_[entered.member] = std::max(last_[entered.member], received);
  }

  // See Progress::pack.
  void pack(ByteWriter& out) const {
    out.number(last_.size());
    for (const Timestamp time : last_) out.signed_number(time.time_since_epoch().count());
  }
  static CallTimes unpack(ByteReader& in) {
    CallTimes times;
    times.last_.resize(in.count(1));
    for (Timestamp& time : times.last_) time = Timestamp(Timestamp::duration(in.signed_number()));
    return times;
  }

  // For a member of Progress; the epoch: it has called nothing.
  Timestamp last(std::size_t member) const {
    return member < last_.size() ? last_[member] : Timestamp{};
  }

 private:
  std::vector<Timestamp> last_;
};

}  // namespace faultline
