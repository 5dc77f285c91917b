#include "rules/story/fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "rules/knowledge/subjects.h"

namespace faultline {
namespace {

// Each finding of a class is compared with every other finding, so their number is bounded.
constexpr std::size_t kMostOfAClass = 256;

bool matters_more(const Suspicion& a, const Suspicion& b) {
  const auto key = [](const Suspicion& s) {
    return std::tuple(-static_cast<int>(s.finding.severity), s.needs_effect, -s.finding.confidence,
                      !s.since.wall_us, s.since.wall_us.value_or(0));
  };
  return key(a) < key(b);
}

Suspicion folded(std::vector<Suspicion>::iterator begin, std::vector<Suspicion>::iterator end) {
  Suspicion one = std::move(*begin);
  Finding& finding = one.finding;
  finding.title += fmt::format(", and {} others like it", end - begin - 1);
  for (auto other = begin + 1; other != end; ++other) {
    append(finding.subject, other->finding.subject);
    finding.count += other->finding.count;
    one.needs_effect &= other->needs_effect;
    one.stops_job |= other->stops_job;
    if (order_of(other->since, one.since, true) == Order::before) one.since = other->since;
  }
  tidy(finding.subject);
  return one;
}

}  // namespace

void fold_what_is_over_budget(std::vector<Suspicion>& found) {
  if (found.size() <= kMostOfAClass) return;
  // Harmless findings, and those that are not of the job, are not mixed with the others.
  std::map<std::tuple<Cause, bool, bool>, std::vector<Suspicion>> alike;
  for (Suspicion& suspicion : found) {
    const Finding& finding = suspicion.finding;
    alike[{finding.cause, finding.part_of_job, suspicion.verdict == Verdict::healthy}].push_back(
        std::move(suspicion));
  }
  found.clear();
  for (auto& [key, same] : alike) {
    if (same.size() > kMostOfAClass) {
      std::ranges::stable_sort(same, matters_more);
      const auto first_folded = same.begin() + (kMostOfAClass - 1);
      *first_folded = folded(first_folded, same.end());
      same.erase(first_folded + 1, same.end());
    }
    std::ranges::move(same, std::back_inserter(found));
  }
}

}  // namespace faultline
