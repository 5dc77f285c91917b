#include "service/event_limit.h"

#include <functional>
#include <string>
#include <vector>

namespace faultline {
namespace {

std::uint64_t kind_of_event(const Event& event) {
  std::string kind(kind_of(event.fact));
  if (const auto* xid = std::get_if<GpuXid>(&event.fact))
    kind += std::to_string(xid->code);
  else if (const auto* report = std::get_if<PartReport>(&event.fact))
    kind += report->tool + report->kind;
  else if (const auto* remark = std::get_if<Remark>(&event.fact))
    return kind_of_text(remark->text);
  return std::hash<std::string>()(kind);
}

}  // namespace

void EventLimit::take_out_what_is_over(Batch& batch) const {
  const std::lock_guard lock(mutex_);
  if (limit_.allows_all()) return;
  batch.left_out += std::erase_if(
      batch.events, [&](const Event& event) { return !limit_.allows(kind_of_event(event)); });
}

void EventLimit::count(const Batch& batch) {
  const std::lock_guard lock(mutex_);
  for (const Event& event : batch.events)
    limit_.add(limit_.allows_all() ? 0 : kind_of_event(event));  // then the kind does not matter
}

void EventLimit::forget(const std::vector<Event>& events) {
  const std::lock_guard lock(mutex_);
  for (const Event& event : events)
    limit_.remove(limit_.has_shares() ? kind_of_event(event) : 0);  // then it does not matter
}

}  // namespace faultline
