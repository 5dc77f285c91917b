#include "service/offences.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace faultline {
namespace {

constexpr std::chrono::minutes kOneEvent{3};

// `a` and `b` are of one part and one class.
bool is_one_event(const Offence& a, const Offence& b) {
  const Finding& one = a.stored.finding;
  const Finding& other = b.stored.finding;
  if (one.last_seen && other.last_seen)
    return std::chrono::abs(*one.last_seen - *other.last_seen) <= kOneEvent;
  return !one.evidence.empty() && !other.evidence.empty() &&
         one.evidence.front().text == other.evidence.front().text;
}

}  // namespace

Timestamp time_of(const StoredFinding& stored) {
  const Finding& finding = stored.finding;
  return finding.last_seen.value_or(finding.first_seen.value_or(stored.opened));
}

void keep_first_of_each_event(std::vector<const Offence*>& offences) {
  std::vector<const Offence*> kept;
  using Key = std::tuple<std::string_view, std::string_view, Cause>;
  std::map<Key, std::vector<const Offence*>> events;
  for (const Offence* offence : offences) {
    auto& known = events[{offence->host, offence->part, offence->stored.finding.cause}];
    if (std::ranges::any_of(known,
                            [&](const Offence* other) { return is_one_event(*other, *offence); }))
      continue;
    known.push_back(offence);
    kept.push_back(offence);
  }
  offences = std::move(kept);
}

}  // namespace faultline
