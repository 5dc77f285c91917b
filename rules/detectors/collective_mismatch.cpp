#include "rules/detectors/collective_mismatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace faultline {
namespace {

constexpr double kClearMinority = 0.85;
constexpr double kEqualCamps = 0.5;      // somebody is wrong, and nothing says who
constexpr double kGuessedMembers = 0.4;  // they may not even belong together
constexpr double kByOpCount = 0.6;       // logs began late or lost lines
// Calls after the difference that must agree once one is left out, to call it left out.
constexpr std::uint64_t kLeastProof = 3;
constexpr std::uint64_t kMostProof = 64;
constexpr std::size_t kMostRanksShown = 3;

struct Camp {
  std::uint32_t call = 0;
  std::vector<std::size_t> members;
};

// Whether `fewer` called what `more` did, but for the call at `position`.
bool left_one_out(const Progress& progress, const History::Place& fewer, const History::Place& more,
                  std::uint64_t position) {
  if (more.position <= position + 1) return false;
  std::uint64_t proof =
      std::min({fewer.position - position, more.position - position - 1, kMostProof});
  if (proof < kLeastProof) return false;
  for (std::uint64_t i = 0; i < proof; ++i)
    if (progress.history().call_at(fewer, position + i) !=
        progress.history().call_at(more, position + i + 1))
      return false;
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

Suspicion describe(const View& view, const Alignment& alignment, const Divergence& divergence) {
  const Progress& progress = view.job.progress();
  const Communicator& communicator = view.communicators[alignment.communicator];
  const std::uint64_t position = divergence.position;
  std::vector<Camp> camps;
  camps.reserve(divergence.camps.size());
  for (const auto& [call, members] : divergence.camps) camps.push_back({call, members});
  std::ranges::stable_sort(camps, std::greater{}, [](const Camp& c) { return c.members.size(); });
  const Camp& most = camps.front();
  const Camp& odd = camps[1];
  const bool equal = odd.members.size() == most.members.size();

  Suspicion suspicion;
  suspicion.stops_job = true;
  suspicion.verdict = Verdict::hang;
  Finding& finding = suspicion.finding;
  std::vector<std::size_t> named;
  for (std::size_t i = equal ? 0 : 1; i < camps.size(); ++i)
    named.insert(named.end(), camps[i].members.begin(), camps[i].members.end());

  const History::Place& odd_place = view.member(odd.members.front()).place;
  const History::Place& most_place = view.member(most.members.front()).place;
  const std::string odd_call = to_text(progress.signature(odd.call));
  const std::string most_call = to_text(progress.signature(most.call));
  const bool counted = alignment.basis == Basis::counted;
  bool missed = counted ? left_one_out(progress, odd_place, most_place, position)
                        : divergence.skipped.value_or(false);
  bool extra = counted && left_one_out(progress, most_place, odd_place, position);
  if (missed && extra) {  // where two calls alternate, only the number of calls made tells
    missed = odd_place.position < most_place.position;
    extra = odd_place.position > most_place.position;
  }
  if (camps.size() == 2 && !equal && missed != extra) {
    finding.cause = "software.collective_skipped";
    finding.title =
        missed ? fmt::format("{} skipped {}, {} of communicator {}, which {} peers called",
                             people_of(view, named), most_call, alignment.label(position),
                             communicator.id, most.members.size())
               : fmt::format("{} called {}, {} of communicator {}, which none of {} peers did",
                             people_of(view, named), odd_call, alignment.label(position),
                             communicator.id, most.members.size());
  } else {
    finding.cause = "software.collective_mismatch";
    finding.title = fmt::format(
        "At {} of communicator {} {} called {} where {} called {}", alignment.label(position),
        communicator.id, people_of(view, odd.members), odd_call,
        equal ? people_of(view, most.members) : fmt::format("{} peers", most.members.size()),
        most_call);
  }
  finding.severity = Severity::critical;
  finding.confidence = !communicator.matched ? kGuessedMembers
                       : equal               ? kEqualCamps
                       : !counted            ? kByOpCount * (1 - alignment.loss)
                                             : kClearMinority;
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
