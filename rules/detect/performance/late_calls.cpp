// Finds a rank that its peers wait for again and again, by the times of their calls.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "rules/detect/lost_lines.h"
#include "rules/detect/performance/measured.h"
#include "rules/knowledge/ground_names.h"
#include "rules/picture/calls/waits_for_late.h"

namespace faultline {
namespace {

// A rank also looks late if the clock of its host is wrong. Returns a peer that has the same clock
// and came in time: one that logs to the same source or runs on the same host.
const Member* peer_beside(const View& view, const LateMember& late) {
  const Member& it = view.member(late.member);
  for (const std::size_t index : view.communicators[late.communicator].members) {
    const Member& peer = view.member(index);
    if (index != late.member &&
        (peer.calls_source == it.calls_source || (!it.host.empty() && peer.host == it.host)))
      return &peer;
  }
  return nullptr;
}

bool is_straggler(const LateMember& late, const PerformanceCatalog::Straggler& rules) {
  const auto paused = static_cast<double>(late.paused_ms);
  return static_cast<double>(late.pauses) > rules.steps && 2 * late.longest_ms <= late.paused_ms &&
         paused >= rules.gap * static_cast<double>(late.span_ms) &&
         paused >= rules.consistent * static_cast<double>(late.paused_ms + late.others_ms);
}

}  // namespace

std::vector<Suspicion> suspect_late_calls(const View& view) {
  std::optional<LateMember> latest;
  for (const LateMember& late : late_members(view))
    if (is_straggler(late, view.catalog.performance.straggler) &&
        peer_beside(view, late) != nullptr && (!latest || late.paused_ms > latest->paused_ms))
      latest = late;
  if (!latest) return {};
  Suspicion suspicion;
  suspicion.verdict = Verdict::slow;
  Finding& finding = suspicion.finding;
  finding.cause = Cause::software_straggler;
  finding.title = fmt::format(
      "{} comes last again and again: all its peers waited for it {} times on communicator {}, "
      "{:.0f} % of the time",
      people_of(view, {latest->member}), latest->pauses,
      view.communicators[latest->communicator].id,
      100 * static_cast<double>(latest->paused_ms) / static_cast<double>(latest->span_ms));
  finding.severity = Severity::warning;
  suspicion.sure = Claim::straggler_by_calls;
  if (!view.communicators[latest->communicator].matched)
    suspicion.sure.add(Ground::members_guessed);
  doubt_lost_lines(view.loss, suspicion.sure);
  finding.subject = subject_of(view, {latest->member});
  finding.subject.gpus.clear();
  finding.count = latest->pauses;
  const Member& it = view.member(latest->member);
  suspicion.since = it.last_line.time;
  for (const Member* member : {peer_beside(view, *latest), &it})
    finding.evidence.push_back(view.evidence(member->last_line));
  return {std::move(suspicion)};
}

}  // namespace faultline
