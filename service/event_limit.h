// Bounds the events of a job, because disk, memory and the time of a restart grow with them. What
// is over the limit is counted in its batch before that is stored, so that a replay counts the
// same.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "model/batch.h"
#include "rules/state/fair_limit.h"

namespace faultline {

class EventLimit {
 public:
  explicit EventLimit(std::size_t most) : limit_(most) {}

  // Takes the events out of the batch that are over the limit. Call it before the batch is stored.
  void take_out_what_is_over(Batch& batch) const;

  // Counts the events of a batch that is stored.
  void count(const Batch& batch);
  // These of them are not stored any more.
  void forget(const std::vector<Event>& events);

 private:
  mutable std::mutex mutex_;
  FairLimit limit_;
};

}  // namespace faultline
