#include "rules/detect/collective_mismatch.h"
#include "rules/knowledge/ground_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace faultline {
namespace {

// Calls after the difference that must agree once one is left out, to be sure that it was.
constexpr std::uint64_t kEnoughProof = 3;
constexpr std::uint64_t kMostProof = 64;
constexpr std::size_t kMostRanksShown = 3;

struct Camp {
  std::uint32_t call = 0;
  std::vector<std::size_t> members;
};

// What a rank called, and, after its last call, what it had called in the same place before: how
// its program would have gone on.
class Program {
 public:
  Program(const Progress& progress, const History::Place& place, std::uint64_t position)
      : history_(progress.history()), place_(place), period_(period_at(position)) {}

  std::optional<std::uint32_t> at(std::uint64_t position) const {
    while (position >= place_.position) {
      if (period_ == 0) return std::nullopt;
      position -= period_;
    }
    return history_.call_at(place_, position);
  }

 private:
  // How long before `position` the calls up to it had come in the same order, by the longest such
  // order: in a run of calls that are all alike a short one is found anywhere.
  std::uint64_t period_at(std::uint64_t position) const {
    constexpr std::uint64_t kMostContext = 64;
    constexpr std::uint64_t kMostBack = 512;
    if (position >= place_.position) return 0;
    std::uint64_t best = 0;
    std::uint64_t longest = 0;
    for (std::uint64_t back = 1; back <= std::min(position, kMostBack); ++back) {
      std::uint64_t same = 0;
      while (same < kMostContext && same + back <= position &&
             history_.call_at(place_, position - same) ==
                 history_.call_at(place_, position - same - back))
        ++same;
      if (same > longest) {
        longest = same;
        best = back;
      }
    }
    return best;
  }

  const History& history_;
  History::Place place_;
  std::uint64_t period_;
};

// How many of the odd one's calls from `position` on, at least one, agree with those of its peers
// `shift` later; 0: one of them does not.
std::uint64_t agreeing(const Progress& progress, const History::Place& odd, const Program& peers,
                       std::uint64_t position, std::uint64_t shift) {
  const std::uint64_t end = std::min(odd.position, position + kMostProof);
  for (std::uint64_t i = position; i < end; ++i) {
    const auto expected = peers.at(i + shift);
    if (!expected) return i - position;
    if (progress.history().call_at(odd, i) != *expected) return 0;
  }
  return end - position;
}

// Whether the odd one made two calls in the other order, and then went on as its peers did. Who
// skipped a call makes the next one as well, and nothing tells it apart until a third has come.
bool in_other_order(const Progress& progress, const History::Place& odd,
                    const History::Place& peers, std::uint64_t position) {
  const History& history = progress.history();
  if (std::min(odd.position, peers.position) < position + 2) return false;
  if (history.call_at(odd, position) != history.call_at(peers, position + 1) ||
      history.call_at(odd, position + 1) != history.call_at(peers, position))
    return false;
  const std::uint64_t end = std::min({odd.position, peers.position, position + kMostProof});
  for (std::uint64_t i = position + 2; i < end; ++i)
    if (history.call_at(odd, i) != history.call_at(peers, i)) return false;
  return true;
}

// The line with which a member entered `position`, as far as it was kept.
Evidence line_at(const View& view, const Alignment& alignment, std::size_t index,
                 std::uint64_t position) {
  const Member& member = view.member(index);
  const RecentCalls& recent = member.recent;
  const Progress& progress = view.job.progress();
  for (std::size_t i = recent.size(); i-- > 0;) {
    const RecentCall& call = recent[i];
    const bool is_it = alignment.basis == Basis::counted
                           ? member.place.position - (recent.size() - i) == position
                           : position < alignment.op_counts.size() &&
                                 call.op_count == alignment.op_counts[position];
    if (!is_it) continue;
    if (call.line == member.last_line.line) break;
    // The log's words are gone, what they said is not: the gaps show that this is no quotation.
    const Signature& said = progress.signature(call.symbol);
    return view.evidence(
        {member.calls_source, call.line, call.offset, EventTime{},
         fmt::format("… {}: opCount {:x} … count {} datatype {} op {} root {} …", said.function,
                     call.op_count, said.count, said.datatype, said.operation, said.root)});
  }
  return view.evidence(member.last_line);
}

// What the ranks of other communicators of this size called at this position: groups that the same
// program makes of all ranks. How many groups called each.
std::map<std::uint32_t, std::size_t> calls_of_siblings(const View& view, const Alignment& alignment,
                                                       std::uint64_t position) {
  std::map<std::uint32_t, std::size_t> calls;
  const int nranks = view.communicators[alignment.communicator].nranks;
  for (const Alignment& other : view.alignments) {
    if (&other == &alignment || other.basis != Basis::counted || other.divergence ||
        other.furthest <= position || view.communicators[other.communicator].nranks != nranks)
      continue;
    for (const std::size_t member : other.members) {
      const History::Place& place = view.member(member).place;
      if (place.position <= position) continue;
      ++calls[view.job.progress().history().call_at(place, position)];
      break;
    }
  }
  return calls;
}

// Of two camps of the same size: the first in the list is the one that its siblings bear out.
bool siblings_tell(const View& view, const Alignment& alignment, std::uint64_t position,
                   std::vector<Camp>& camps) {
  if (alignment.basis != Basis::counted) return false;
  const auto calls = calls_of_siblings(view, alignment, position);
  const auto votes = [&](const Camp& camp) {
    const auto known = calls.find(camp.call);
    return known == calls.end() ? std::size_t{0} : known->second;
  };
  const std::size_t first = votes(camps[0]);
  const std::size_t second = votes(camps[1]);
  if ((first == 0) == (second == 0)) return false;
  if (first == 0) std::swap(camps[0], camps[1]);
  return true;
}

// Sizes agree, so that nothing hangs, and the results are wrong.
bool only_reduces_otherwise(const Signature& one, const Signature& other) {
  return one.operation != other.operation && one.function == other.function &&
         one.count == other.count && one.datatype == other.datatype && one.root == other.root;
}

Suspicion describe(const View& view, const Alignment& alignment, const Divergence& divergence) {
  const Progress& progress = view.job.progress();
  const Communicator& communicator = view.communicators[alignment.communicator];
  const std::uint64_t position = divergence.position;
  std::vector<Camp> camps;
  camps.reserve(divergence.camps.size());
  for (const auto& [call, members] : divergence.camps) camps.push_back({call, members});
  std::ranges::stable_sort(camps, std::greater{}, [](const Camp& c) { return c.members.size(); });
  // Of two camps of nearly the same size, ranks that were not heard may make either the larger.
  const auto nranks = static_cast<std::size_t>(std::max(communicator.nranks, 0));
  const std::size_t unheard = nranks - std::min(nranks, communicator.members.size());
  const std::size_t larger = camps[0].members.size();
  const std::size_t smaller = camps[1].members.size();
  const bool as_many = smaller == larger || (2 * smaller >= larger && smaller + unheard >= larger);
  const bool by_siblings =
      as_many && camps.size() == 2 && siblings_tell(view, alignment, position, camps);
  const bool equal = as_many && !by_siblings;
  const Camp& most = camps.front();
  const Camp& odd = camps[1];

  Suspicion suspicion;
  suspicion.stops_job = true;
  suspicion.verdict = Verdict::hang;
  Finding& finding = suspicion.finding;
  std::vector<std::size_t> named;
  for (std::size_t i = equal ? 0 : 1; i < camps.size(); ++i)
    named.insert(named.end(), camps[i].members.begin(), camps[i].members.end());

  const History::Place& odd_place = view.member(odd.members.front()).place;
  // Whoever went furthest tells most of how the program goes on.
  const History::Place& most_place =
      view
          .member(*std::ranges::max_element(
              most.members, {}, [&](std::size_t m) { return view.member(m).place.position; }))
          .place;
  const std::string odd_call = to_text(progress.signature(odd.call));
  const std::string most_call = to_text(progress.signature(most.call));
  const bool counted = alignment.basis == Basis::counted;
  std::uint64_t shows_missed = divergence.skipped.value_or(false) ? kEnoughProof : 0;
  std::uint64_t shows_extra = 0;
  if (counted) {
    const Program peers(progress, most_place, position);
    shows_missed = agreeing(progress, odd_place, peers, position, 1);
    // A call too many: after it, the odd one calls what its peers called instead of it. That it
    // called one thing for another is simpler, and fits as well where calls repeat.
    const std::uint64_t as_an_extra =
        odd_place.position > position + 1
            ? agreeing(progress, odd_place, peers, position + 1, static_cast<std::uint64_t>(-1))
            : 0;
    const std::uint64_t as_another = agreeing(progress, odd_place, peers, position + 1, 0);
    if (as_an_extra >= kEnoughProof && as_another == 0) shows_extra = as_an_extra;
  }
  const bool swapped = counted && !equal && shows_missed < 2 && shows_extra == 0 &&
                       in_other_order(progress, odd_place, most_place, position);
  const bool missed = !swapped && shows_missed > shows_extra;
  const bool extra = !swapped && shows_extra > shows_missed;
  if (camps.size() == 2 && !equal && missed != extra) {
    finding.cause = "software.collective_skipped";
    finding.title =
        missed ? fmt::format("{} skipped {}, {} of communicator {}, which {} peers called",
                             people_of(view, named), most_call, alignment.label(position),
                             communicator.id, most.members.size())
               : fmt::format("{} called {}, {} of communicator {}, which none of {} peers did",
                             people_of(view, named), odd_call, alignment.label(position),
                             communicator.id, most.members.size());
    // Left out anywhere in a run of equal calls, it is missed only at the end of the run.
    const bool one_of_a_run = missed && counted && position > 0 &&
                              progress.history().call_at(most_place, position - 1) == most.call;
    if (one_of_a_run)
      finding.title += ", or an equal one just before: identical calls leave open which";
  } else {
    finding.cause = "software.collective_mismatch";
    if (only_reduces_otherwise(progress.signature(odd.call), progress.signature(most.call))) {
      suspicion.verdict = Verdict::corrupt;
      suspicion.tells_verdict = true;
    }
    finding.title =
        swapped ? fmt::format(
                      "{} called {} before {}, from {} of communicator {} on, which {} peers "
                      "called in the other order",
                      people_of(view, odd.members), odd_call, most_call, alignment.label(position),
                      communicator.id, most.members.size())
                : fmt::format("At {} of communicator {} {} called {} where {} called {}",
                              alignment.label(position), communicator.id,
                              people_of(view, odd.members), odd_call,
                              equal ? people_of(view, most.members)
                                    : fmt::format("{} peers", most.members.size()),
                              most_call);
  }
  finding.severity = Severity::critical;
  suspicion.sure = Claim::calls_differ;
  if (!communicator.matched) suspicion.sure.add(Ground::difference_by_layout);
  if (equal)
    suspicion.sure.add(Ground::equal_camps);
  else if (by_siblings)
    suspicion.sure.add(Ground::told_by_siblings);
  else if (!counted) {
    suspicion.sure.add(Ground::calls_uncounted);
    if (alignment.loss > 1.0 / 5) suspicion.sure.add(Ground::late_here_and_there);
  }
  if (missed != extra && std::max(shows_missed, shows_extra) < kEnoughProof)
    suspicion.sure.add(Ground::by_one_call);
  finding.subject = subject_of(view, named);
  finding.subject.communicators = {communicator.id};
  for (const Camp& camp : camps)
    for (std::size_t i = 0; i < std::min(camp.members.size(), &camp == &most ? 1 : kMostRanksShown);
         ++i)
      finding.evidence.push_back(line_at(view, alignment, camp.members[i], position));
  std::ranges::rotate(finding.evidence, finding.evidence.begin() + (equal ? 0 : 1));
  suspicion.since = view.member(odd.members.front()).last_line.time;
  return suspicion;
}

}  // namespace

std::vector<Suspicion> find_collective_mismatches(const View& view) {
  std::vector<Suspicion> found;
  for (const Alignment& alignment : view.alignments)
    if (alignment.divergence) found.push_back(describe(view, alignment, *alignment.divergence));
  return found;
}

}  // namespace faultline
