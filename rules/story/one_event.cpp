#include "rules/story/one_event.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace faultline {
namespace {

// If more time lies between two lines, they are not of one event.
constexpr std::int64_t kOneEventUs = 600'000'000;

bool same_cause(Cause a, Cause b) {
  return a == b || (is(a, Trait::differing_call) && is(b, Trait::differing_call));
}

// Whether only one group has this description: groups of one kind share it.
bool is_the_only(const View& view, const std::string& description) {
  return std::ranges::count(view.job.flight().groups(), description, &FlightGroup::description) ==
         1;
}

// The communicators that consist of exactly the ranks of a process group that is named so.
std::set<std::string> communicators_like(const View& view, const std::string& group_text) {
  std::set<std::string> ids;
  if (group_text == "default_pg" || group_text == "group 0")
    for (const Communicator& communicator : view.communicators)
      if (communicator.nranks == view.roll.expected) ids.insert(communicator.id);
  for (const FlightGroup& group : view.job.flight().groups()) {
    const bool named = group_text == group.name || group_text == "group " + group.name ||
                       group_text == group.name + " (" + group.description + ")" ||
                       (group_text == group.description && is_the_only(view, group_text));
    if (!named || group.members.empty()) continue;
    for (const Communicator& communicator : view.communicators) {
      std::set<int> ranks;
      for (const std::size_t member : communicator.members)
        ranks.insert(view.worker_of(member).rank);
      if (std::ranges::equal(ranks, group.members)) ids.insert(communicator.id);
    }
  }
  return ids;
}

bool share_group(const View& view, const Finding& a, const Finding& b) {
  for (const std::string& name : a.subject.communicators) {
    if (std::ranges::find(b.subject.communicators, name) != b.subject.communicators.end())
      return true;
    const std::set<std::string> alike = communicators_like(view, name);
    if (std::ranges::any_of(b.subject.communicators,
                            [&](const std::string& other) { return alike.contains(other); }))
      return true;
  }
  return false;
}

bool clocks_tell_of_one(const View& view, const Candidate& one, const Candidate& other) {
  const Finding& a = one.finding();
  const Finding& b = other.finding();
  if (clock_of(one) == clock_of(other)) return false;
  // If all ranks entered a call, some clocks name the ranks and some only their group.
  if (is(a.cause, Trait::of_a_group)) return share_group(view, a, b) || share_group(view, b, a);
  return !a.subject.ranks.empty() && a.subject.ranks == b.subject.ranks;
}

template <class Name>
bool holds(const std::vector<Name>& all, const std::vector<Name>& some) {
  return std::ranges::all_of(
      some, [&](const auto& name) { return std::ranges::find(all, name) != all.end(); });
}

// A finding that names no part of a kind leaves open which it was.
template <class Name>
bool may_be_of_one(const std::vector<Name>& a, const std::vector<Name>& b) {
  return a.empty() || b.empty() || holds(a, b) || holds(b, a);
}

template <class Name>
bool both_name(const std::vector<Name>& a, const std::vector<Name>& b) {
  return !a.empty() && !b.empty();
}

bool parts_overlap(const Subject& a, const Subject& b) {
  const bool both = both_name(a.hosts, b.hosts) || both_name(a.ranks, b.ranks) ||
                    both_name(a.gpus, b.gpus) || both_name(a.nics, b.nics);
  return both && may_be_of_one(a.hosts, b.hosts) && may_be_of_one(a.ranks, b.ranks) &&
         may_be_of_one(a.gpus, b.gpus) && may_be_of_one(a.nics, b.nics);
}

bool are_far_apart(const EventTime& a, const EventTime& b) {
  if (!a.wall_us || !b.wall_us || a.zone_assumed != b.zone_assumed) return false;
  const std::int64_t apart = *a.wall_us - *b.wall_us;
  return apart > kOneEventUs || apart < -kOneEventUs;
}

// A host has one fault of a class, whatever lines its kernel prints about it. Other faults may have
// struck two of its parts.
bool may_tell_of_one(const Candidate& one, const Candidate& other) {
  return one.detector != other.detector || is_of(one.finding().cause, Family::host);
}

bool witnesses_tell_of_one(const Candidate& one, const Candidate& other) {
  const Finding& a = one.finding();
  const Finding& b = other.finding();
  if (one.symptom || !may_tell_of_one(one, other)) return false;
  if (names_no_part(a) || names_no_part(b))
    return !are_far_apart(one.suspicion.since, other.suspicion.since);
  return parts_overlap(a.subject, b.subject);
}

}  // namespace

Clock clock_of(std::string_view detector) {
  if (detector == "flight") return Clock::recorder;
  if (detector == "stacks") return Clock::stacks;
  return detector == "torch" ? Clock::watchdog : Clock::nccl;
}

Clock clock_of(const Candidate& candidate) {
  const Clock clock = clock_of(candidate.detector);
  const Cause cause = candidate.finding().cause;
  const bool of_calls = is(cause, Trait::of_calls) || is_of(cause, Family::collective);
  return clock != Clock::nccl || of_calls ? clock : Clock::none;
}

bool names_no_part(const Finding& finding) {
  const Subject& subject = finding.subject;
  return subject.hosts.empty() && subject.ranks.empty() && subject.gpus.empty() &&
         subject.nics.empty() && subject.communicators.empty();
}

bool tell_of_one(const View& view, const Candidate& one, const Candidate& other) {
  const Finding& a = one.finding();
  const Finding& b = other.finding();
  // A fault before the job and a fault in it are two.
  if (a.part_of_job != b.part_of_job) return false;
  if (a.id == b.id) return true;
  if (!same_cause(a.cause, b.cause)) return false;
  if (is(a.cause, Trait::of_calls)) return clocks_tell_of_one(view, one, other);
  return one.in_question() && other.in_question() && witnesses_tell_of_one(one, other);
}

}  // namespace faultline
