#include "rules/picture/calls/p2p_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace faultline {
namespace {

// With more flows, as in a large all-to-all, only flows that lack an answer are examined.
constexpr std::size_t kMostFlowsLookedAtTwice = 20'000;

constexpr PeerCall kPeerCalls[] = {PeerCall::send, PeerCall::receive};

std::uint64_t calls_of(const Flow* flow) { return flow == nullptr ? 0 : flow->calls; }

struct Place {
  std::size_t alignment = 0;
  std::size_t member = 0;
};

// For each worker: the alignments in which it can be compared, in ascending order.
class Places {
 public:
  explicit Places(const View& view) : view_(view), of_worker_(view.workers.all.size()) {
    for (std::size_t which = 0; which < view.alignments.size(); ++which) {
      const Alignment& alignment = view.alignments[which];
      if (alignment.basis != Basis::counted || alignment.divergence) continue;
      for (std::size_t member : alignment.members) {
        std::vector<Place>& places = of_worker_[view.workers.of_member[member]];
        if (places.empty() || places.back().alignment != which) places.push_back({which, member});
      }
    }
  }

  std::span<const Place> of(std::size_t member) const {
    return of_worker_[view_.workers.of_member[member]];
  }

  // A sender can make up so many communicators that comparing the places of two ranks, gap by gap,
  // never ends. Then the gaps that come last are judged without. False if `steps` are too many.
  bool may_take(std::size_t steps) {
    constexpr std::size_t kMostSteps = std::size_t{1} << 22;
    taken_ += std::min(steps, kMostSteps);
    return taken_ <= kMostSteps;
  }

 private:
  const View& view_;
  std::vector<std::vector<Place>> of_worker_;
  std::size_t taken_ = 0;
};

// Calls `see` with the members of both in each alignment that they share, until it returns true.
template <class See>
void for_each_shared(std::span<const Place> waiting, std::span<const Place> owing, const See& see) {
  auto other = owing.begin();
  for (const Place& one : waiting) {
    while (other != owing.end() && other->alignment < one.alignment) ++other;
    if (other == owing.end()) return;
    if (other->alignment == one.alignment && other->member != one.member &&
        see(one.alignment, one.member, other->member))
      return;
  }
}

bool entered_collective_after(const MemberTraffic& traffic, const Flow& call) {
  return traffic.collective_line > call.line && traffic.collective_source == call.source;
}

// The owing rank entered a collective that the waiting rank entered only after its call, or not at
// all. Both programs make their calls in the same order, so the answer was left out.
P2pGap::Passed passed(const View& view, Places& places, const P2pGap& gap, const Flow& unanswered) {
  if (view.member(gap.owing).left_cleanly()) return P2pGap::Passed::beyond;
  if (gap.waiting == gap.owing)
    return entered_collective_after(view.job.traffic().of(gap.waiting), unanswered)
               ? P2pGap::Passed::beyond
               : P2pGap::Passed::no;
  P2pGap::Passed best = P2pGap::Passed::no;
  const std::span waiting = places.of(gap.waiting);
  const std::span owing = places.of(gap.owing);
  if (!places.may_take(waiting.size() + owing.size())) return best;
  for_each_shared(
      waiting, owing, [&](std::size_t which, std::size_t waiting_member, std::size_t owing_member) {
        const std::uint64_t position = view.member(waiting_member).place.position;
        const std::uint64_t owing_position = view.member(owing_member).place.position;
        const bool went_on =
            entered_collective_after(view.job.traffic().of(waiting_member), unanswered);
        const bool same = which == gap.communicator;
        if (went_on && owing_position >= position)
          best = std::max(best, same ? P2pGap::Passed::beyond : P2pGap::Passed::elsewhere);
        else if (same && owing_position > position)
          best = std::max(best, P2pGap::Passed::ahead);
        return false;
      });
  return best;
}

// The line of a member's position-th collective, counted from 1, if it is recent enough.
std::optional<std::uint64_t> line_of_collective(const Member& member, std::uint64_t position) {
  const std::uint64_t before = member.place.position - member.recent.size();
  if (position <= before || position > member.place.position) return std::nullopt;
  return member.recent[position - before - 1].line;
}

// Whether, at each earlier collective that is known, `other` had answered every call of `one`.
// Skips collectives after which `one` made no call up to collective `both`.
bool were_in_step(const Member& one, const Member& other, std::uint64_t both, const Flow& called,
                  const Flow* answers) {
  constexpr std::size_t kLeastCallsSeen = 2;
  if (answers == nullptr) return false;
  const auto now = called.calls_before(*line_of_collective(one, both));
  std::set<std::uint32_t> seen;
  for (std::uint64_t before = both; before-- > 1;) {
    const auto line = line_of_collective(one, before);
    const auto others_line = line_of_collective(other, before);
    if (!line || !others_line) break;
    const auto made = called.calls_before(*line);
    const auto answered = answers->calls_before(*others_line);
    if (!made || !answered) break;
    if (*made == *now) continue;
    if (*made != *answered) return false;
    seen.insert(*made);
  }
  return seen.size() >= kLeastCallsSeen;
}

// How many answers `other` had made when both entered their `both`-th collective; nullopt if `one`
// had not made more calls.
std::optional<std::uint64_t> fewer_answers(const Member& one, const Member& other,
                                           const Flow& called, const Flow* answers,
                                           bool were_equal_before) {
  if (one.calls_source != called.source) return std::nullopt;
  if (answers != nullptr && other.calls_source != answers->source) return std::nullopt;
  const std::uint64_t both = std::min(one.place.position, other.place.position);
  const auto line = line_of_collective(one, both);
  const auto others_line = line_of_collective(other, both);
  if (!line || !others_line) return std::nullopt;
  const auto made = called.calls_before(*line);
  const auto answered =
      answers == nullptr ? std::optional<std::uint32_t>(0) : answers->calls_before(*others_line);
  if (!made || !answered || *answered >= *made) return std::nullopt;
  if (were_equal_before && !were_in_step(one, other, both, called, answers)) return std::nullopt;
  return *answered;
}

struct LeftOut {
  std::uint64_t answered = 0;
  P2pGap::Passed passed = P2pGap::Passed::counted;
};

// Set if the owing rank had answered fewer calls than the waiting rank had made when both entered
// the same collective. Later calls may hide such a gap, because each pairs with an earlier one.
// `hidden`: the totals show no gap. Then both must have been in step at earlier collectives: some
// programs answer a call only after the collective.
std::optional<LeftOut> left_out_before(const View& view, Places& places, const P2pGap& gap,
                                       bool hidden) {
  if (gap.waiting == gap.owing) return std::nullopt;
  const std::span waiting = places.of(gap.waiting);
  const std::span owing = places.of(gap.owing);
  const Traffic& traffic = view.job.traffic();
  const Flow* called = traffic.of(gap.waiting).find(gap.called, view.member(gap.owing).init->rank);
  const Flow* answers =
      traffic.of(gap.owing).find(counterpart(gap.called), view.member(gap.waiting).init->rank);
  if (called == nullptr) return std::nullopt;
  std::optional<LeftOut> found;
  if (!places.may_take(waiting.size() + owing.size())) return found;
  for_each_shared(
      waiting, owing, [&](std::size_t, std::size_t waiting_member, std::size_t owing_member) {
        if (const auto answered = fewer_answers(
                view.member(waiting_member), view.member(owing_member), *called, answers, hidden))
          found = {*answered, P2pGap::Passed::counted};
        return found.has_value();
      });
  if (found || !places.may_take(waiting.size() * owing.size())) return found;
  // Groups that the same program makes of other ranks: the same calls are made at the same places.
  for (const auto& [which, waiting_member] : waiting) {
    const Member& one = view.member(waiting_member);
    for (const auto& [others_which, owing_member] : owing) {
      const Member& other = view.member(owing_member);
      if (which == others_which || one.nranks != other.nranks ||
          one.place.branch != other.place.branch)
        continue;
      if (const auto answered = fewer_answers(one, other, *called, answers, true))
        return LeftOut{*answered, P2pGap::Passed::elsewhere};
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(PeerCall call) { return call == PeerCall::send ? "Send" : "Recv"; }

PeerCall counterpart(PeerCall call) {
  return call == PeerCall::send ? PeerCall::receive : PeerCall::send;
}

std::vector<std::size_t> comparable_by_rank(const View& view, std::size_t communicator) {
  const Alignment& alignment = view.alignments[communicator];
  std::vector<std::size_t> by_rank;
  if (view.lines_are_missing()) return by_rank;
  if (alignment.basis != Basis::counted) return by_rank;
  for (std::size_t index : alignment.members) {
    const auto& init = view.member(index).init;
    if (!init || init->rank < 0 || init->rank >= view.communicators[communicator].nranks) continue;
    if (!view.job.traffic().of(index).complete) continue;
    const auto rank = static_cast<std::size_t>(init->rank);
    // A log can claim any number of ranks; only ranks that exist may cost memory.
    if (rank >= by_rank.size() && rank > 64 * (alignment.members.size() + 1024)) continue;
    if (rank >= by_rank.size()) by_rank.resize(rank + 1, kNobody);
    by_rank[rank] = index;
  }
  return by_rank;
}

std::vector<P2pGap> find_p2p_gaps(const View& view) {
  std::vector<P2pGap> gaps;
  std::optional<Places> places;
  std::size_t flows = 0;
  for (const std::size_t member : view.members)
    for (const PeerCall called : kPeerCalls)
      flows += view.job.traffic().of(member).flows(called).size();
  const bool few = flows <= kMostFlowsLookedAtTwice;
  for (std::size_t which = 0; which < view.communicators.size(); ++which) {
    const std::vector<std::size_t> by_rank = comparable_by_rank(view, which);
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
      const std::size_t waiting = by_rank[rank];
      if (waiting == kNobody) continue;
      for (PeerCall called : kPeerCalls) {
        for (const Flow& flow : view.job.traffic().of(waiting).flows(called)) {
          const auto peer = static_cast<std::size_t>(flow.peer);
          if (flow.peer < 0 || peer >= by_rank.size() || by_rank[peer] == kNobody) continue;
          const std::size_t owing = by_rank[peer];
          const std::uint64_t answered = calls_of(
              view.job.traffic().of(owing).find(counterpart(called), static_cast<int>(rank)));
          const bool hidden = answered >= flow.calls;
          if ((hidden && !few) || view.is_live(owing)) continue;
          if (view.member(waiting).left_cleanly() && view.member(owing).left_cleanly()) continue;
          P2pGap gap{.communicator = which,
                     .waiting = waiting,
                     .owing = owing,
                     .called = called,
                     .answered = answered,
                     .calls = flow.calls};
          if (!places) places.emplace(view);
          if (hidden) {
            const auto before = left_out_before(view, *places, gap, hidden);
            if (!before) continue;
            gap.passed = before->passed;
            gap.answered = before->answered;
            gaps.push_back(gap);
            continue;
          }
          gap.passed = passed(view, *places, gap, flow);
          if (gap.passed != P2pGap::Passed::beyond)
            if (auto before = left_out_before(view, *places, gap, hidden)) {
              gap.passed = std::max(gap.passed, before->passed);
              gap.answered = before->answered;
            }
          // A rank that owes a call to itself may be about to make it.
          if (waiting != owing || gap.passed != P2pGap::Passed::no) gaps.push_back(gap);
        }
      }
    }
  }
  return gaps;
}

bool add_p2p_waits(const View& view, std::set<std::size_t>& waited_for,
                   std::set<std::size_t>& waiting) {
  bool any = false;
  for (const P2pGap& gap : view.p2p_gaps()) {
    if (gap.passed != P2pGap::Passed::no || gap.waiting == gap.owing) continue;
    waited_for.insert(view.workers.of_member[gap.owing]);
    waiting.insert(view.workers.of_member[gap.waiting]);
    any = true;
  }
  return any;
}

Evidence line_of(const View& view, std::size_t member, PeerCall call, const Flow& flow) {
  const LineRef& last = view.member(member).last_line;
  if (last.source == flow.source && last.line == flow.line) return view.evidence(last);
  // The text of the line was not kept, but its numbers were. The … show that this is no quotation.
  return {view.job.sources().at(flow.source).source.name, flow.line, flow.offset, std::nullopt,
          fmt::format("… {}: opCount {:x} … count {} datatype {} … root {} …", name_of(call),
                      flow.op_count, std::uint64_t{flow.last().count},
                      std::uint64_t{flow.last().datatype}, flow.peer)};
}

}  // namespace faultline
