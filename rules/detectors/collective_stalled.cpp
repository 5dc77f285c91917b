#include "rules/detectors/collective_stalled.h"

#include <fmt/format.h>

#include <algorithm>

namespace faultline {
namespace {

constexpr double kSure = 0.85;
constexpr std::size_t kMostLines = 3;

// A log that shows no end of any call says nothing about the end of this one.
bool unfinished(const Member& member) {
  return member.done_op_count && *member.done_op_count < member.last_op_count && !member.ending;
}

bool stalled(const View& view, const Alignment& alignment) {
  const Communicator& communicator = view.communicators[alignment.communicator];
  return alignment.basis == Basis::counted && alignment.in_step() && alignment.furthest > 0 &&
         alignment.members.size() == static_cast<std::size_t>(communicator.nranks) &&
         std::ranges::all_of(alignment.members, [&](std::size_t m) {
           return unfinished(view.member(m)) && !view.is_live(m);
         });
}

}  // namespace

std::vector<Suspicion> find_stalled_collectives(const View& view) {
  std::vector<Suspicion> found;
  for (const Alignment& alignment : view.alignments) {
    if (!stalled(view, alignment)) continue;
    const Communicator& communicator = view.communicators[alignment.communicator];
    const Progress& progress = view.job.progress();
    const Member& any = view.member(alignment.members.front());
    const Signature& call =
        progress.signature(progress.history().call_at(any.place, alignment.furthest - 1));
    Suspicion& suspicion = found.emplace_back();
    suspicion.stops_job = true;
    suspicion.verdict = Verdict::hang;
    suspicion.since = any.last_line.time;
    Finding& finding = suspicion.finding;
    finding.cause = "collective.stalled";
    finding.title =
        fmt::format("All {} ranks entered {} #{} of communicator {} and none finished it",
                    communicator.nranks, call.function, alignment.furthest, communicator.id);
    finding.severity = Severity::critical;
    finding.confidence = kSure;
    finding.subject = subject_of(view, alignment.members);
    finding.subject.communicators = {communicator.id};
    for (std::size_t i = 0; i < std::min(alignment.members.size(), kMostLines); ++i)
      finding.evidence.push_back(view.evidence(view.member(alignment.members[i]).last_line));
  }
  return found;
}

}  // namespace faultline
