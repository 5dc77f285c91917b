#include "rules/detect/went_past.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <vector>

#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

struct WentPast {
  bool this_call = false;        // it left out the one its peers wait in; false: an earlier one
  std::size_t other_member = 0;  // on which it went on: an index into Progress::members()
  bool with_peers = false;       // some peers are as far on that communicator
};

constexpr std::uint64_t kClearlyPast = 2;  // calls; threads may cause a difference of one
constexpr std::size_t kLeastPlaces = 2;    // at which it must be in step with its peer's next call
constexpr std::size_t kMostPlaces = 8;

// The line of a member's position-th call (from 0), if it is recent enough to be known.
std::optional<std::uint64_t> line_of(const Member& member, std::uint64_t position) {
  const std::uint64_t oldest = member.place.position - member.recent.size();
  if (position < oldest || position >= member.place.position) return std::nullopt;
  return member.recent[position - oldest].line;
}

// How many calls the process had made on `other` when it printed `line`.
std::optional<std::uint64_t> calls_before(const Member& other, std::uint64_t line) {
  const auto places = std::views::iota(std::size_t{0}, other.recent.size());
  const auto after = std::ranges::upper_bound(places, line, {},
                                              [&](std::size_t i) { return other.recent[i].line; });
  const auto later = static_cast<std::uint64_t>(places.end() - after);
  if (after == places.begin() && later < other.place.position) return std::nullopt;
  return other.place.position - later;
}

// Two communicators of one process; lines of several files have no order.
bool comparable(const Member& one, const Member& other) {
  return one.calls_source == other.calls_source && one.from_start && other.from_start;
}

// The communicators of one process and one of its peers, side by side.
struct Pair {
  const Member& mine;
  const Member& my_other;
  const Member& peers;
  const Member& peers_other;

  // How far each was on the other communicator at its position-th call here.
  std::optional<std::uint64_t> mine_at(std::uint64_t position) const {
    auto line = line_of(mine, position);
    return line ? calls_before(my_other, *line) : std::nullopt;
  }
  std::optional<std::uint64_t> peers_at(std::uint64_t position) const {
    auto line = line_of(peers, position);
    return line ? calls_before(peers_other, *line) : std::nullopt;
  }

  // Whether each of its last calls came where the peer made the one after it.
  bool one_call_early(std::uint64_t position) const {
    std::size_t fits = 0;
    for (std::size_t back = 1; back <= kMostPlaces && back <= position; ++back) {
      const auto at = mine_at(position - back);
      const auto next = peers_at(position - back + 1);
      if (!at || !next || *at != *next) break;
      const auto same = peers_at(position - back);
      if (!same) break;
      if (*same != *next) ++fits;
    }
    return fits >= kLeastPlaces;
  }
};

constexpr std::size_t kNoMember = SIZE_MAX;
constexpr std::size_t kMostPeers = 8;  // all peers show the same

// The worker's member in a communicator.
std::size_t member_in(const View& view, std::size_t worker, std::size_t communicator) {
  for (const std::size_t member : view.workers.all[worker].members)
    if (view.communicator_of[member] == communicator) return member;
  return kNoMember;
}

// One rank or a few take a wrong turn; if most ranks are behind, they are held up.
bool worth_asking(const Alignment& alignment) {
  return !alignment.divergence && !alignment.behind.empty() &&
         alignment.behind.size() * 2 < alignment.members.size();
}

// `member` is behind, `ahead` are members that are not. nullopt: the member stopped there, or no
// line shows it.
std::optional<WentPast> went_past(const View& view, const Alignment& alignment,
                                  const std::vector<std::size_t>& ahead, std::size_t member) {
  const Member& mine = view.member(member);
  if (!mine.from_start) return std::nullopt;
  for (std::size_t my_other : view.worker_of(member).members) {
    const std::size_t shared = view.communicator_of[my_other];
    if (my_other == member || shared == kNoCommunicator) continue;
    if (!comparable(mine, view.member(my_other))) continue;
    std::size_t asked = 0;
    for (const std::size_t peer : ahead) {
      if (asked == kMostPeers) break;
      const std::size_t peers_other = member_in(view, view.workers.of_member[peer], shared);
      if (peers_other == kNoMember || !comparable(view.member(peer), view.member(peers_other)))
        continue;
      const Pair pair{mine, view.member(my_other), view.member(peer), view.member(peers_other)};
      ++asked;
      const auto peer_there = pair.peers_at(alignment.slowest);
      if (!peer_there) continue;
      const bool with_peers = pair.peers_other.place.position >= pair.my_other.place.position;
      if (pair.my_other.place.position >= *peer_there + kClearlyPast)
        return WentPast{.this_call = true, .other_member = my_other, .with_peers = with_peers};
      if (pair.one_call_early(alignment.slowest))
        return WentPast{.this_call = false, .other_member = my_other, .with_peers = with_peers};
    }
  }
  return std::nullopt;
}

// Calls tell(member, past) for each member that went past the call in which the others wait.
template <class Tell>
void for_each_who_went_past(const View& view, const Alignment& alignment, Tell tell) {
  if (!worth_asking(alignment) || alignment.basis != Basis::counted) return;
  std::vector<std::size_t> ahead;  // members
  for (std::size_t i = 0; i < alignment.members.size(); ++i)
    if (alignment.positions[i] > alignment.slowest && view.member(alignment.members[i]).from_start)
      ahead.push_back(alignment.members[i]);
  if (ahead.empty()) return;
  for (const std::size_t member : alignment.behind)
    if (const auto past = went_past(view, alignment, ahead, member)) tell(member, *past);
}

Suspicion describe_past(const View& view, const Alignment& alignment, std::size_t member,
                        const WentPast& past) {
  const Communicator& communicator = view.communicators[alignment.communicator];
  const Member& late = view.member(member);
  const Member& other = view.member(past.other_member);
  const std::string call = alignment.missed
                               ? to_text(view.job.progress().signature(*alignment.missed))
                               : std::string("a call");
  Suspicion suspicion =
      hang(Cause::software_collective_skipped, Claim::call_skipped, late.last_line.time);
  Finding& finding = suspicion.finding;
  finding.title =
      past.this_call
          ? fmt::format("{} skipped {}, {} of communicator {}: it made later calls on another one",
                        people_of(view, {member}), call, alignment.label(alignment.slowest),
                        communicator.id)
          : fmt::format(
                "{} skipped one {} of communicator {}, one of several identical calls: since then "
                "it is one call ahead of its peers on another communicator",
                people_of(view, {member}), call, communicator.id);
  if (past.with_peers && (past.this_call || may_lack_a_line(late)))
    suspicion.sure.add(Ground::one_line_tells);
  finding.subject = subject_of(view, {member});
  finding.subject.communicators = {communicator.id};
  finding.evidence = {view.evidence(late.last_line), view.evidence(other.last_line)};
  for (std::size_t i = 0; i < alignment.members.size(); ++i)
    if (alignment.positions[i] > alignment.slowest) {
      finding.evidence.push_back(view.evidence(view.member(alignment.members[i]).last_line));
      break;
    }
  return suspicion;
}

}  // namespace

bool may_lack_a_line(const Member& member) {
  constexpr std::uint64_t kEnough = 4;
  const bool counts_each = member.calls >= kEnough && member.first_op_count == 0U &&
                           member.last_op_count + 1 == member.calls;
  return !counts_each;
}

bool went_on_with_its_peers(const View& view, const Alignment& alignment, std::size_t member) {
  const Member& mine = view.member(member);
  for (const std::size_t my_other : view.worker_of(member).members) {
    const std::size_t shared = view.communicator_of[my_other];
    if (my_other == member || shared == kNoCommunicator) continue;
    if (!comparable(mine, view.member(my_other))) continue;
    for (std::size_t i = 0; i < alignment.members.size(); ++i) {
      const std::size_t peer = alignment.members[i];
      if (alignment.positions[i] <= alignment.slowest) continue;
      const std::size_t peers_other = member_in(view, view.workers.of_member[peer], shared);
      if (peers_other == kNoMember || !comparable(view.member(peer), view.member(peers_other)))
        continue;
      const Pair pair{mine, view.member(my_other), view.member(peer), view.member(peers_other)};
      const auto there = pair.peers_at(alignment.slowest);
      const std::uint64_t mine_now = pair.my_other.place.position;
      if (there && mine_now > *there && pair.peers_other.place.position >= mine_now) return true;
    }
  }
  return false;
}

std::set<std::size_t> workers_on_other_paths(const View& view) {
  std::set<std::size_t> workers;
  for (const Alignment& alignment : view.alignments) {
    if (alignment.divergence) {
      std::size_t largest = 0;
      for (const auto& [call, camp] : alignment.divergence->camps)
        largest = std::max(largest, camp.size());
      for (const auto& [call, camp] : alignment.divergence->camps)
        if (camp.size() < largest)
          for (std::size_t member : camp) workers.insert(view.workers.of_member[member]);
    }
    for_each_who_went_past(view, alignment, [&](std::size_t member, const WentPast&) {
      workers.insert(view.workers.of_member[member]);
    });
  }
  return workers;
}

std::vector<Suspicion> find_skipped_collectives(const View& view) {
  std::vector<Suspicion> found;
  for (const Alignment& alignment : view.alignments)
    for_each_who_went_past(view, alignment, [&](std::size_t member, const WentPast& past) {
      found.push_back(describe_past(view, alignment, member, past));
    });
  return found;
}

}  // namespace faultline
