#include "rules/detect/collective_mismatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "rules/detect/went_past.h"
#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

// How many calls after the difference must agree once one call is left out, to be sure that it was.
constexpr std::uint64_t kEnoughProof = 3;
constexpr std::uint64_t kMostProof = 64;
constexpr std::size_t kMostRanksShown = 3;

struct Camp {
  std::uint32_t call = 0;
  std::vector<std::size_t> members;
};

// The calls of a rank, continued beyond its last call as they repeated before: how its program
// would have gone on.
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
  // How far back from `position` the same calls came in the same order; 0: nowhere. The longest
  // match counts, because in a run of identical calls a short match is found anywhere.
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

// How many of the odd rank's calls from `position` on agree with the calls that its peers made
// `shift` later. 0: one of them does not agree.
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

// Whether the odd rank made two calls in the other order, and then went on as its peers did. A rank
// that skipped a call also makes the next one; only a third call tells the two cases apart.
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

// The line with which a member entered `position`; its last line, if that one was not kept.
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
    // The text of the line was not kept, only what it said. The ellipses show that this is no
    // quotation.
    const Signature& said = progress.signature(call.symbol);
    return view.evidence(
        {member.calls_source, call.line, call.offset, EventTime{},
         fmt::format("… {}: opCount {:x} … count {} datatype {} op {} root {} …", said.function,
                     call.op_count, said.count, said.datatype, said.operation, said.root)});
  }
  return view.evidence(member.last_line);
}

// What communicators of one size called at a position, and how many of them called each: they are
// groups that the same program makes of all ranks. Those whose ranks disagree tell nothing.
class SiblingCalls {
 public:
  explicit SiblingCalls(const View& view) : view_(view) {
    for (const Alignment& alignment : view.alignments)
      if (alignment.basis == Basis::counted && !alignment.divergence)
        of_size_[view.communicators[alignment.communicator].nranks].push_back(&alignment);
  }

  using Calls = std::map<std::uint32_t, std::size_t>;

  const Calls& at(int nranks, std::uint64_t position) {
    const auto [known, is_new] = known_.try_emplace({nranks, position});
    if (is_new)
      for (const Alignment* alignment : of_size_[nranks])
        count(*alignment, position, known->second);
    return known->second;
  }

 private:
  void count(const Alignment& alignment, std::uint64_t position, Calls& calls) const {
    if (alignment.furthest <= position) return;
    for (const std::size_t member : alignment.members) {
      const History::Place& place = view_.member(member).place;
      if (place.position <= position) continue;
      ++calls[view_.job.progress().history().call_at(place, position)];
      return;
    }
  }

  const View& view_;
  std::map<int, std::vector<const Alignment*>> of_size_;
  std::map<std::pair<int, std::uint64_t>, Calls> known_;
};

// Decides between two camps of the same size: puts the camp first that sibling communicators
// confirm. False: they do not decide.
bool siblings_tell(const View& view, SiblingCalls& siblings, const Alignment& alignment,
                   std::uint64_t position, std::vector<Camp>& camps) {
  if (alignment.basis != Basis::counted) return false;
  const SiblingCalls::Calls& calls =
      siblings.at(view.communicators[alignment.communicator].nranks, position);
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

// The sizes agree, so nothing hangs, but the results are wrong.
bool only_reduces_otherwise(const Signature& one, const Signature& other) {
  return one.operation != other.operation && one.function == other.function &&
         one.count == other.count && one.datatype == other.datatype && one.root == other.root;
}

// Which ranks called what, the largest camp first.
struct Camps {
  std::vector<Camp> all;
  bool equal = false;  // nothing shows which of two is right
  bool by_siblings = false;

  const Camp& most() const { return all.front(); }
  const Camp& odd() const { return all[1]; }
  bool are_two() const { return all.size() == 2 && !equal; }

  std::vector<std::size_t> named() const {
    std::vector<std::size_t> members;
    for (std::size_t i = equal ? 0 : 1; i < all.size(); ++i)
      members.insert(members.end(), all[i].members.begin(), all[i].members.end());
    return members;
  }
};

Camps camps_of(const View& view, SiblingCalls& siblings, const Alignment& alignment,
               const Divergence& divergence) {
  const Communicator& communicator = view.communicators[alignment.communicator];
  Camps camps;
  for (const auto& [call, members] : divergence.camps) camps.all.push_back({call, members});
  const auto first_rank = [&](const Camp& camp) {
    return view
        .worker_of(*std::ranges::min_element(camp.members, {},
                                             [&](std::size_t m) { return view.worker_of(m).rank; }))
        .rank;
  };
  std::ranges::stable_sort(camps.all, [&](const Camp& a, const Camp& b) {
    return a.members.size() != b.members.size() ? a.members.size() > b.members.size()
                                                : first_rank(a) < first_rank(b);
  });
  // If two camps are nearly of the same size, ranks without a log may make either one the larger.
  const auto nranks = static_cast<std::size_t>(std::max(communicator.nranks, 0));
  const std::size_t unheard = nranks - std::min(nranks, communicator.members.size());
  const std::size_t larger = camps.most().members.size();
  const std::size_t smaller = camps.odd().members.size();
  const bool as_many = smaller == larger || (2 * smaller >= larger && smaller + unheard >= larger);
  camps.by_siblings = as_many && camps.all.size() == 2 &&
                      siblings_tell(view, siblings, alignment, divergence.position, camps.all);
  camps.equal = as_many && !camps.by_siblings;
  return camps;
}

// What the odd rank did, judged by how it went on.
enum class Deed { called_another, missed, added, swapped };

struct Reading {
  Deed deed = Deed::called_another;
  std::uint64_t proof = 0;    // calls that agree once one is left out
  bool one_of_a_run = false;  // any one of a run of identical calls may be the skipped one
};

Reading reading_of(const View& view, const Alignment& alignment, const Divergence& divergence,
                   const Camps& camps) {
  const Progress& progress = view.job.progress();
  const std::uint64_t position = divergence.position;
  const bool counted = alignment.basis == Basis::counted;
  const History::Place& odd = view.member(camps.odd().members.front()).place;
  // The rank that went furthest shows most of how the program goes on.
  const History::Place& most =
      view.member(*std::ranges::max_element(
                      camps.most().members, {},
                      [&](std::size_t m) { return view.member(m).place.position; }))
          .place;
  std::uint64_t missed = divergence.skipped.value_or(false) ? kEnoughProof : 0;
  std::uint64_t added = 0;
  if (counted) {
    const Program peers(progress, most, position);
    missed = agreeing(progress, odd, peers, position, 1);
    // An extra call: after it, the odd rank calls what its peers called in its place. One call made
    // in place of another is the simpler explanation, and fits as well if calls repeat.
    const std::uint64_t as_an_extra =
        odd.position > position + 1
            ? agreeing(progress, odd, peers, position + 1, static_cast<std::uint64_t>(-1))
            : 0;
    const std::uint64_t as_another = agreeing(progress, odd, peers, position + 1, 0);
    if (as_an_extra >= kEnoughProof && as_another == 0) added = as_an_extra;
  }
  Reading reading{.proof = std::max(missed, added)};
  if (counted && !camps.equal && missed < 2 && added == 0 &&
      in_other_order(progress, odd, most, position))
    reading.deed = Deed::swapped;
  else if (missed != added)
    reading.deed = missed > added ? Deed::missed : Deed::added;
  reading.one_of_a_run = reading.deed == Deed::missed && counted && position > 0 &&
                         progress.history().call_at(most, position - 1) == camps.most().call;
  return reading;
}

std::string title_of_divergence(const View& view, const Alignment& alignment,
                                std::uint64_t position, const Camps& camps,
                                const Reading& reading) {
  const Progress& progress = view.job.progress();
  const std::string odd_call = to_text(progress.signature(camps.odd().call));
  const std::string most_call = to_text(progress.signature(camps.most().call));
  const std::string odd = people_of(view, camps.odd().members);
  const std::size_t peers = camps.most().members.size();
  const std::string place = fmt::format("{} of communicator {}", alignment.label(position),
                                        view.communicators[alignment.communicator].id);
  if (reading.deed == Deed::swapped)
    return fmt::format(
        "{} called {} before {}, starting at {}; {} peers called them in the other order", odd,
        odd_call, most_call, place, peers);
  if (camps.are_two() && reading.deed == Deed::missed)
    return fmt::format("{} skipped {}, {}, which {} peers called{}", odd, most_call, place, peers,
                       reading.one_of_a_run ? ", or an identical call just before it" : "");
  if (camps.are_two() && reading.deed == Deed::added)
    return fmt::format("{} called {}, {}, which none of {} peers did", odd, odd_call, place, peers);
  return fmt::format(
      "At {} {} called {} where {} called {}", place, odd, odd_call,
      camps.equal ? people_of(view, camps.most().members) : fmt::format("{} peers", peers),
      most_call);
}

Sureness sureness_of_divergence(const View& view, const Alignment& alignment, const Camps& camps,
                                const Reading& reading) {
  Sureness sure = Claim::calls_differ;
  if (!view.communicators[alignment.communicator].matched) sure.add(Ground::difference_by_layout);
  if (camps.equal)
    sure.add(Ground::equal_camps);
  else if (camps.by_siblings)
    sure.add(Ground::told_by_siblings);
  else if (alignment.basis != Basis::counted) {
    sure.add(Ground::calls_uncounted);
    if (alignment.loss > 1.0 / 5) sure.add(Ground::late_here_and_there);
  }
  const bool by_one_place = reading.deed == Deed::missed || reading.deed == Deed::added;
  if (by_one_place && reading.proof < kEnoughProof) sure.add(Ground::by_one_call);
  if (reading.deed == Deed::missed && camps.odd().members.size() == 1 &&
      may_lack_a_line(view.member(camps.odd().members.front())))
    sure.add(Ground::one_line_tells);
  return sure;
}

Suspicion describe_divergence(const View& view, SiblingCalls& siblings, const Alignment& alignment,
                              const Divergence& divergence) {
  const Progress& progress = view.job.progress();
  const Camps camps = camps_of(view, siblings, alignment, divergence);
  const Reading reading = reading_of(view, alignment, divergence, camps);
  const bool left_out = reading.deed == Deed::missed || reading.deed == Deed::added;
  const Cause cause = camps.are_two() && left_out ? Cause::software_collective_skipped
                                                  : Cause::software_collective_mismatch;

  Suspicion suspicion = hang(cause, sureness_of_divergence(view, alignment, camps, reading),
                             view.member(camps.odd().members.front()).last_line.time);
  Finding& finding = suspicion.finding;
  if (cause == Cause::software_collective_mismatch &&
      only_reduces_otherwise(progress.signature(camps.odd().call),
                             progress.signature(camps.most().call))) {
    suspicion.verdict = Verdict::corrupt;
    suspicion.tells_verdict = true;
  }
  finding.title = title_of_divergence(view, alignment, divergence.position, camps, reading);
  finding.subject = subject_of(view, camps.named());
  finding.subject.communicators = {view.communicators[alignment.communicator].id};
  for (const Camp& camp : camps.all) {
    const std::size_t shown = &camp == &camps.most() ? 1 : kMostRanksShown;
    for (std::size_t i = 0; i < std::min(camp.members.size(), shown); ++i)
      finding.evidence.push_back(line_at(view, alignment, camp.members[i], divergence.position));
  }
  std::ranges::rotate(finding.evidence, finding.evidence.begin() + (camps.equal ? 0 : 1));
  return suspicion;
}

}  // namespace

std::vector<Suspicion> find_collective_mismatches(const View& view) {
  std::vector<Suspicion> found;
  SiblingCalls siblings(view);
  for (const Alignment& alignment : view.alignments)
    if (alignment.divergence)
      found.push_back(describe_divergence(view, siblings, alignment, *alignment.divergence));
  return found;
}

}  // namespace faultline
