#include "rules/story/hold.h"

#include <algorithm>
#include <set>
#include <string>

namespace faultline {
namespace {

// Whether something did not come, or was not called, and the logs of its rank or host may still
// grow.
bool waits_for_its_own_lines(const View& view, const Finding& finding) {
  if (!is(finding.cause, Trait::absence) && !is(finding.cause, Trait::of_calls)) return false;
  const std::set<int> ranks(finding.subject.ranks.begin(), finding.subject.ranks.end());
  const std::set<std::string> hosts(finding.subject.hosts.begin(), finding.subject.hosts.end());
  return std::ranges::any_of(view.workers.all, [&](const Worker& worker) {
    if (ranks.empty() ? !hosts.contains(worker.host) : !ranks.contains(worker.rank)) return false;
    return std::ranges::any_of(worker.members, [&](std::size_t index) {
      const std::size_t communicator = view.communicator_of[index];
      const bool stopped = communicator != kNoCommunicator && view.has_stopped(communicator);
      return view.arrival.may_grow(view.log_of(index)) && !stopped;
    });
  });
}

bool has_stood_for_long(const View& view, const Finding& finding) {
  const auto since = view.moment.suspected_since.find(finding.id);
  return since != view.moment.suspected_since.end() &&
         view.moment.now - since->second >= view.moment.stall_after;
}

}  // namespace

void hold_back(const View& view, std::vector<Candidate>& candidates) {
  if (view.arrival.is_settled()) return;
  for (Candidate& candidate : candidates) {
    const Finding& finding = candidate.finding();
    if (view.moment.told.contains(finding.id)) continue;
    candidate.held = !(view.arrival.is_established() || has_stood_for_long(view, finding)) ||
                     waits_for_its_own_lines(view, finding);
  }
}

}  // namespace faultline
