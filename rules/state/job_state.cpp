#include "rules/state/job_state.h"

#include <algorithm>

namespace faultline {

void JobState::apply(const Source& source, const Batch& batch, Timestamp received) {
  std::uint32_t index = sources_.apply(source, batch, received);
  const Source& origin = sources_.at(index).source;
  progress_.enter(batch);
  traffic_.enter(batch);
  for_each_in_order(
      batch,
      [&](const Event& event) {
        progress_.apply(index, origin, batch, event);
        processes_.apply(index, origin, batch, event);
        hardware_.apply(index, batch, event);
        parts_.apply(index, batch, event);
        remarks_.apply(index, origin, batch, event);
        addresses_.apply(index, origin, batch, event);
        setup_.apply(index, origin, batch, event);
        reports_.apply(index, batch, event);
      },
      [&](const CallRun& run) {
        const Entered entered = progress_.apply(index, origin, batch, run);
        traffic_.apply(entered, index, batch, run);
      });
  last_activity_ = std::max(last_activity_.value_or(received), received);
}

}  // namespace faultline
