#include "rules/detect/collective_stalled.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

// A log that shows no end of any call says nothing about the end of this one.
bool unfinished(const Member& member) {
  return member.done_op_count && *member.done_op_count < member.last_op_count && !member.ending;
}

bool stalled(const View& view, const Alignment& alignment) {
  const Communicator& communicator = view.communicators[alignment.communicator];
  return alignment.in_step() && alignment.furthest > 0 &&
         communicator.are_all(alignment.members.size()) &&
         std::ranges::all_of(alignment.members, [&](std::size_t m) {
           return unfinished(view.member(m)) && !view.member(m).recent.empty() && !view.is_live(m);
         });
}

}  // namespace

Suspicion stall_of(const View& view, const std::vector<std::size_t>& members,
                   const std::string& communicator, std::string title, Sureness sure) {
  Suspicion suspicion =
      hang(Cause::collective_stalled, std::move(sure), view.member(members.front()).last_line.time);
  Finding& finding = suspicion.finding;
  finding.title = std::move(title);
  finding.subject = subject_of(view, members);
  finding.subject.communicators = {communicator};
  add_last_lines(view, members, finding);
  return suspicion;
}

void add_doubts_of_place(const View& view, const Alignment& alignment, Sureness& sure) {
  if (!view.communicators[alignment.communicator].matched) sure.add(Ground::members_guessed);
  if (alignment.basis == Basis::op_count) sure.add(Ground::placed_by_op_count);
  if (alignment.basis == Basis::sequence) sure.add(Ground::placed_by_order);
}

std::vector<Suspicion> find_stalled_collectives(const View& view) {
  std::vector<Suspicion> found;
  for (const Alignment& alignment : view.alignments) {
    if (!stalled(view, alignment)) continue;
    const Communicator& communicator = view.communicators[alignment.communicator];
    const Member& any = view.member(alignment.members.front());
    const Signature& call = view.job.progress().signature(any.recent.back().symbol);
    Sureness sure = Claim::all_entered;
    add_doubts_of_place(view, alignment, sure);
    const std::string label = alignment.label(alignment.furthest - 1);
    found.push_back(
        stall_of(view, alignment.members, communicator.id,
                 fmt::format("All {} ranks entered {}{}{} of communicator {} and none finished it",
                             communicator.nranks, call.function, label.empty() ? "" : " ", label,
                             communicator.id),
                 std::move(sure)));
  }
  return found;
}

}  // namespace faultline
