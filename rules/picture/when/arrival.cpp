#include "rules/picture/when/arrival.h"

#include <algorithm>

#include "rules/picture/view.h"

namespace faultline {
Arrival::Arrival(const View& view) {
  const auto patience = view.moment.stall_after;
  if (patience.count() == 0) return;
  const std::vector<SourceState>& sources = view.job.sources().all();
  growing_.assign(sources.size(), false);
  Timestamp last_begun{};
  Timestamp last_grown{};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const SourceState& source = sources[i];
    last_begun = std::max(last_begun, source.first_received);
    growing_[i] =
        source.end != SourceEnd::closed && view.moment.now - source.last_received < patience;
    if (growing_[i]) last_grown = std::max(last_grown, source.last_received);
  }
  established_ = view.moment.now - last_begun >= patience;
  const bool all_heard = view.roll.all_heard();
  const bool grows = std::ranges::find(growing_, true) != growing_.end();
  settled_ = !grows && (established_ || all_heard);
  if (settled_) return;
  const Timestamp last = all_heard ? last_grown : std::max(last_begun, last_grown);
  settles_in_ = std::chrono::ceil<std::chrono::seconds>(last + patience - view.moment.now);
}

}  // namespace faultline
