#include "rules/detect/flight.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "rules/detect/stall.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/prose.h"
#include "rules/picture/calls/flight_alignment.h"
#include "rules/picture/calls/flight_steps.h"
#include "rules/picture/calls/flight_waits.h"
#include "rules/picture/calls/told/recorder.h"

namespace faultline {
namespace {

constexpr std::size_t kMostRanksNamed = 16;
constexpr std::size_t kMostPlacesTold = 4;
constexpr std::size_t kMostSilent = 2;             // more ranks without a dump: most was not sent
constexpr std::uint32_t kLeastAgreeing = 1;        // calls after the odd one
constexpr std::uint32_t kLeastAgreeingBefore = 2;  // calls, with those of earlier steps

std::string listed(const std::vector<int>& ranks) {
  const std::vector<int> named(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                  ranks.size(), kMostRanksNamed)));
  return fmt::format("{} {}{}", ranks.size() == 1 ? "Rank" : "Ranks", fmt::join(named, ", "),
                     ranks.size() > named.size() ? ", …" : "");
}

class Findings {
 public:
  explicit Findings(const View& view)
      : view_(view), flight_(view.job.flight()), latest_(flight_.latest()) {}

  std::vector<Suspicion> run() {
    if (flight_.dumps().empty()) return {};
    const FlightAlignment alignment = align_flight(flight_);
    // A rank that called something else has not called what the others wait in. Later differences
    // follow from the first one.
    if (!alignment.mismatches.empty()) differ(alignment.mismatches.front());
    if (found_.empty()) clash(alignment);
    if (found_.empty()) left_out(alignment);
    std::vector<Suspicion> told = told_by_dumps(alignment);
    const auto stalled = std::ranges::stable_partition(told, [](const Suspicion& suspicion) {
      return suspicion.finding.cause != Cause::collective_stalled;
    });
    if (found_.empty()) std::move(told.begin(), stalled.begin(), std::back_inserter(found_));
    if (found_.empty()) deadlock(alignment);
    if (found_.empty()) circle(alignment.circle);
    if (found_.empty() && !alignment.unfinished.empty()) unfinished(alignment);
    if (found_.empty()) not_begun(alignment);
    if (found_.empty()) std::ranges::move(stalled, std::back_inserter(found_));
    if (found_.empty()) peers_wait(alignment);
    if (found_.empty()) nobody_stands_out(alignment);
    return std::move(found_);
  }

 private:
  const FlightDump* dump_of(int rank) const {
    const auto known = latest_.find(rank);
    return known == latest_.end() ? nullptr : &flight_.dumps()[known->second];
  }

  Subject subject(const std::vector<int>& ranks) const {
    Subject subject;
    std::set<std::string> hosts;
    for (int rank : ranks) {
      subject.ranks.push_back(rank);
      if (const FlightDump* dump = dump_of(rank); dump != nullptr && !dump->host.empty())
        hosts.insert(dump->host);
      for (const std::size_t index : view_.workers.of_rank(rank))
        if (const std::string& host = view_.workers.all[index].host; !host.empty())
          hosts.insert(host);
    }
    subject.hosts.assign(hosts.begin(), hosts.end());
    return subject;
  }

  void add_line(Finding& finding, int rank, std::uint32_t group) const {
    const FlightDump* dump = dump_of(rank);
    if (dump == nullptr || finding.evidence.size() >= kMostLines) return;
    const FlightPosition* position = dump->position(group);
    finding.evidence.push_back(view_.evidence(position == nullptr ? dump->line : position->line));
  }

  Suspicion& suspect(Cause cause, Claim claim, const std::vector<int>& ranks, std::string title) {
    Suspicion& suspicion = found_.emplace_back(hang(cause, claim));
    suspicion.finding.title = std::move(title);
    suspicion.finding.subject = subject(ranks);
    return suspicion;
  }

  void add_call_place(Finding& finding, const FlightStall& stall) const {
    if (const std::string place = place_in_program(flight_, stall); !place.empty())
      finding.actions.push_back(
          {fmt::format("See what keeps it from this place in the program, where its peers are: {}",
                       place),
           "", ""});
  }

  // A rank that stops inside a call lets some peers finish it; these wait in the next call.
  static bool waits_in_next(const FlightStall::Rank& rank) {
    return rank.standing == FlightStanding::finished && rank.stuck_later && rank.ahead == 0;
  }

  static std::vector<int> waiting_here_or_next(const FlightStall& stall) {
    std::vector<int> waiting = stall.with(FlightStanding::entered);
    std::ranges::copy(stall.with(FlightStanding::started), std::back_inserter(waiting));
    for (const FlightStall::Rank& rank : stall.ranks)
      if (waits_in_next(rank)) waiting.push_back(rank.rank);
    return waiting;
  }

  // Which ranks are behind or ahead, or that all ranks are there.
  std::vector<Suspicion> told_by_dumps(const FlightAlignment& alignment) const {
    ProgressTable table = table_of_recorder(flight_, alignment);
    const auto in_order = [](const std::set<int>& ranks) {
      return std::vector<int>(ranks.begin(), ranks.end());
    };
    table.names = [&](const std::set<int>& ranks) { return listed(in_order(ranks)); };
    table.subject = [&](const std::set<int>& ranks) { return subject(in_order(ranks)); };
    return find_stalls_in(view_, table);
  }

  void unfinished(const FlightAlignment& alignment) {
    const FlightStall* telling = alignment.stalls.empty() ? nullptr : &alignment.stalls.front();
    Suspicion& suspicion = suspect(
        Cause::collective_rank_behind, Claim::recorder_gpu_unfinished, alignment.unfinished,
        fmt::format("{} made every call, but the {} did not finish what the peers' GPUs finished",
                    listed(alignment.unfinished),
                    alignment.unfinished.size() == 1 ? "GPU" : "GPUs"));
    for (int rank : alignment.unfinished)
      add_line(suspicion.finding, rank, telling == nullptr ? 0 : telling->group);
    add_gpu_action(suspicion.finding);
  }

  // The signatures of the rank's collectives in the group, by number.
  Calls calls_of(int rank, std::uint32_t group) const {
    Calls calls;
    const FlightDump* dump = dump_of(rank);
    const FlightPosition* position = dump == nullptr ? nullptr : dump->position(group);
    if (position == nullptr) return calls;
    for (const FlightEntry& entry : position->entries)
      if (entry.role == FlightRole::collective) calls[entry.sequence] = entry.signature;
    return calls;
  }

  void differ(const FlightMismatch& mismatch) {
    const FlightMismatch::Camp& most = mismatch.camps.front();
    const FlightMismatch::Camp& odd = mismatch.camps[1];
    const bool even = most.ranks.size() == odd.ranks.size() && !mismatch.told_by_like_groups;
    std::vector<int> culprits = odd.ranks;
    if (even) culprits.insert(culprits.end(), most.ranks.begin(), most.ranks.end());
    std::ranges::sort(culprits);
    const std::string usual = call_text(flight_.signature(most.signature));
    const std::string other = call_text(flight_.signature(odd.signature));
    const auto odd_calls = calls_of(odd.ranks.front(), mismatch.group);
    const auto usual_calls = calls_of(most.ranks.front(), mismatch.group);
    // Ranks that wait may have called nothing more; then earlier steps show what would follow.
    const Calls as_before = as_in_steps_before(usual_calls, mismatch.sequence);
    const auto shifted_by = [&](const Calls& usual_one, std::uint32_t by_odd,
                                std::uint32_t by_usual, std::uint32_t least) {
      return !even && is_shifted(odd_calls, usual_one, mismatch.sequence, by_odd, by_usual, least);
    };
    const bool left_out = shifted_by(usual_calls, 0, 1, kLeastAgreeing) ||
                          shifted_by(as_before, 0, 1, kLeastAgreeingBefore);
    const bool one_more = !left_out && shifted_by(usual_calls, 1, 0, kLeastAgreeing);

    std::string title;
    if (left_out)
      title = fmt::format(
          "{} left out {}, #{} of process group {}, and went on with the call that the others make "
          "after it",
          listed(odd.ranks), usual, mismatch.sequence, group_text(flight_, mismatch.group));
    else if (one_more)
      title = fmt::format(
          "{} made an extra call, {} as #{} of process group {}, which the others do not make",
          listed(odd.ranks), other, mismatch.sequence, group_text(flight_, mismatch.group));
    else
      title = fmt::format("{} called {} as #{} of process group {}, where {} called {}",
                          listed(odd.ranks), other, mismatch.sequence,
                          group_text(flight_, mismatch.group), counted(most.ranks.size(), "other"),
                          usual);
    const bool shifted = left_out || one_more;
    if (mismatch.told_by_like_groups) title += ", as groups of the same kind did";
    Suspicion& suspicion =
        suspect(shifted ? Cause::software_collective_skipped : Cause::software_collective_mismatch,
                shifted                                ? Claim::recorder_skipped
                : even || mismatch.told_by_like_groups ? Claim::recorder_camps
                                                       : Claim::recorder_differs,
                culprits, std::move(title));
    add_line(suspicion.finding, odd.ranks.front(), mismatch.group);
    add_line(suspicion.finding, most.ranks.front(), mismatch.group);
  }

  // A receive that expects another size or type than the send has.
  void clash(const FlightAlignment& alignment) {
    if (alignment.clashes.empty()) return;
    const FlightPeerClash& first = alignment.clashes.front();
    const FlightSignature& sent = flight_.signature(first.sent);
    const FlightSignature& received = flight_.signature(first.received);
    Suspicion& suspicion = suspect(
        Cause::software_p2p_mismatch, Claim::recorder_clash,
        {std::min(first.sender, first.receiver), std::max(first.sender, first.receiver)},
        fmt::format("Rank {} sends {} {} to rank {} in process group {}, but that rank "
                    "expects {} {}",
                    first.sender, sent.input_sizes, sent.input_dtypes, first.receiver,
                    group_text(flight_, first.group), received.input_sizes, received.input_dtypes));
    add_line(suspicion.finding, first.sender, first.group);
    add_line(suspicion.finding, first.receiver, first.group);
  }

  // A collective that a rank left out.
  void left_out(const FlightAlignment& alignment) {
    if (alignment.omissions.empty()) return;
    // The omission of the earliest stall.
    const FlightOmission& first = alignment.omissions.front();
    std::vector<int> ranks;
    for (const FlightOmission& omission : alignment.omissions)
      if (omission.group == first.group) ranks.push_back(omission.rank);
    const auto members = flight_.groups()[first.group].members.size();
    if (ranks.size() * 2 > members) return;  // then these are not the odd ones
    Suspicion& suspicion =
        suspect(Cause::software_collective_skipped, Claim::recorder_omitted, ranks,
                fmt::format("{} left out {}, #{} of process group {}, and called what others call "
                            "after it: {}, #{} of {}",
                            listed(ranks), call_text(flight_.signature(first.signature)),
                            first.sequence, group_text(flight_, first.group),
                            call_text(flight_.signature(first.later_signature)),
                            first.later_sequence, group_text(flight_, first.later_group)));
    add_line(suspicion.finding, first.rank, first.later_group);
    add_line(suspicion.finding, first.rank, first.group);
  }

  // Each rank waits in a send or receive before it reaches the call that the other waits for.
  void deadlock(const FlightAlignment& alignment) {
    if (alignment.deadlock.empty()) return;
    const FlightFront& front = alignment.fronts.at(alignment.deadlock.front());
    Suspicion& suspicion = suspect(
        Cause::software_p2p_mismatch, Claim::recorder_peers_wait, alignment.deadlock,
        fmt::format("{} wait for each other in sends and receives of process group {}: none "
                    "reaches the matching call",
                    listed(alignment.deadlock), group_text(flight_, front.group)));
    for (const int rank : alignment.deadlock) add_line(suspicion.finding, rank, front.group);
  }

  std::string place_in_circle(const FlightCircle::Wait& wait) const {
    const std::string& operation = flight_.signature(wait.entry.signature).operation;
    const std::string group = group_text(flight_, wait.front.group);
    if (const auto half = peer_call(operation); half && !wait.front.collective)
      return fmt::format("a {} of process group {}", half->sends ? "Send" : "Recv", group);
    return fmt::format("{}, #{} of process group {},", operation.substr(operation.find(':') + 1),
                       wait.entry.sequence, group);
  }

  // Each rank waits in a call that the next one has not made: their orders of calls differ.
  void circle(const FlightCircle& circle) {
    if (circle.waits.empty()) return;
    const bool collectives = std::ranges::all_of(circle.waits, [](const FlightCircle::Wait& wait) {
      return wait.front.collective.has_value();
    });
    std::vector<int> all;
    std::vector<std::string> places;
    for (const FlightCircle::Wait& wait : circle.waits) {
      all.push_back(wait.rank);
      if (places.size() < kMostPlacesTold)
        places.push_back(
            fmt::format("rank {} in {} for rank {}", wait.rank, place_in_circle(wait), wait.next));
    }
    std::ranges::sort(all);
    std::string title =
        fmt::format("{} wait for each other in a circle: {}{}", listed(all),
                    fmt::join(places, "; "), places.size() < all.size() ? "; …" : "");
    if (!circle.strayed.empty())
      title = fmt::format("{} called in another order than in earlier steps; {}",
                          listed(circle.strayed), in_a_sentence(title));
    Suspicion& suspicion =
        suspect(collectives ? Cause::software_collective_mismatch : Cause::software_p2p_mismatch,
                circle.strayed.empty() ? Claim::recorder_circle : Claim::recorder_strayed,
                circle.strayed.empty() ? all : circle.strayed, std::move(title));
    std::vector<FlightCircle::Wait> named = circle.waits;
    std::ranges::stable_partition(named, [&](const FlightCircle::Wait& wait) {
      return std::ranges::find(circle.strayed, wait.rank) != circle.strayed.end();
    });
    for (const FlightCircle::Wait& wait : named)
      add_line(suspicion.finding, wait.rank, wait.front.group);
    const FlightCircle::Wait& first = named.front();
    const std::string place = place_in_program(flight_, first.front);
    if (collectives)
      suspicion.finding.actions.push_back(
          {fmt::format(
               "Make all ranks call the collectives of these process groups in the same order{}{}",
               place.empty() ? "." : fmt::format("; rank {} stands here: ", first.rank), place),
           "", ""});
    else if (!circle.strayed.empty() && !place.empty())
      suspicion.finding.actions.push_back(
          {fmt::format("See which call rank {} left out before this place in the program: {}",
                       first.rank, place),
           "", ""});
  }

  // All ranks called one operation, but the GPUs of a few did not start it.
  void not_begun(const FlightAlignment& alignment) {
    if (!alignment.standing) return;
    const FlightStall& stall = alignment.stalls[*alignment.standing];
    const std::vector<int> scheduled = stall.with(FlightStanding::entered);
    const std::vector<int> started = stall.with(FlightStanding::started);
    const bool timed = std::ranges::all_of(scheduled, [&](int rank) {
      const FlightDump* dump = dump_of(rank);
      return dump != nullptr && dump->timing;
    });
    if (scheduled.empty() || !timed || scheduled.size() > started.size() || started.empty() ||
        (scheduled.size() == 1 && started.size() == 1 && stall.ranks.size() > 2))
      return;
    Suspicion& suspicion = suspect(
        Cause::collective_rank_behind, Claim::recorder_gpu_not_begun, scheduled,
        fmt::format("{} called {}, #{} of process group {}, but {} did not start it; the GPUs "
                    "of {} wait there",
                    listed(scheduled), call_text(flight_.signature(stall.signature)),
                    stall.sequence, group_text(flight_, stall.group),
                    scheduled.size() == 1 ? "its GPU" : "their GPUs",
                    counted(started.size(), "other")));
    for (const int rank : scheduled) add_line(suspicion.finding, rank, stall.group);
    add_line(suspicion.finding, started.front(), stall.group);
    add_gpu_action(suspicion.finding);
  }

  static void add_gpu_action(Finding& finding) {
    finding.actions.push_back(
        {"Look at the GPUs of these ranks and the kernel logs of their hosts first: a GPU kernel "
         "that hangs there stops all other ranks.",
         "", "nvidia-smi; dmesg -T | grep -E 'Xid|NVRM'"});
  }

  // Two ranks that wait for each other.
  void peers_wait(const FlightAlignment& alignment) {
    for (const FlightPeerWait& wait : alignment.peer_waits) {
      if (wait.peer_posted || !wait.peer_has_dump) continue;
      const bool mutual = std::ranges::any_of(alignment.peer_waits, [&](const FlightPeerWait& o) {
        return o.group == wait.group && o.rank == wait.peer && o.peer == wait.rank &&
               !o.peer_posted;
      });
      if (!mutual) continue;
      Suspicion& suspicion =
          suspect(Cause::software_p2p_mismatch, Claim::recorder_peers_wait,
                  {std::min(wait.rank, wait.peer), std::max(wait.rank, wait.peer)},
                  fmt::format("Rank {} waits in {} {} rank {} in process group {}, but that rank "
                              "has not made the matching call and waits the same way",
                              wait.rank, wait.sends ? "send" : "recv", wait.sends ? "to" : "from",
                              wait.peer, group_text(flight_, wait.group)));
      add_line(suspicion.finding, wait.rank, wait.group);
      add_line(suspicion.finding, wait.peer, wait.group);
      return;
    }
  }

  // All ranks with a dump wait in a call in which only ranks without a dump are missing.
  void nobody_stands_out(const FlightAlignment& alignment) {
    std::set<int> all_silent;
    for (const FlightStall& stall : alignment.stalls)
      for (const int rank : stall.with(FlightStanding::no_dump)) all_silent.insert(rank);
    for (const FlightStall& stall : alignment.stalls) {
      const std::vector<int> waiting = waiting_here_or_next(stall);
      const std::vector<int> silent = stall.with(FlightStanding::no_dump);
      if (waiting.empty() || silent.empty() || silent.size() > kMostSilent ||
          waiting.size() + silent.size() != stall.ranks.size())
        continue;
      const bool all_of_them = silent.size() == all_silent.size() && latest_.size() > silent.size();
      if (silent.size() >= waiting.size() && !all_of_them) continue;
      if (!std::ranges::all_of(stall.ranks, [&](const FlightStall::Rank& rank) {
            return rank.standing == FlightStanding::no_dump || waits_in_next(rank) ||
                   alignment.stands_in(rank.rank, stall);
          }))
        continue;
      const std::string who = fmt::format(
          "{} of the group wait{} in {}, #{} of process group {}{}",
          waiting.size() == 1 ? std::string("the other one")
                              : fmt::format("all {} others", waiting.size()),
          waiting.size() == 1 ? "s" : "", call_text(flight_.signature(stall.signature)),
          stall.sequence, group_text(flight_, stall.group),
          std::ranges::any_of(stall.ranks, waits_in_next) ? ", or in the next one" : "");
      // A rank that sent no other log either may wait as all others do.
      std::vector<int> unheard;
      std::ranges::copy_if(silent, std::back_inserter(unheard),
                           [&](int rank) { return !view_.roll.heard.contains(rank); });
      const std::string missing =
          unheard == silent
              ? fmt::format("No dump or log of {}", in_a_sentence(listed(silent)))
              : fmt::format("No dump of {} and no log of {}", in_a_sentence(listed(silent)),
                            in_a_sentence(listed(unheard)));
      const bool heard = unheard.empty();
      Suspicion& suspicion =
          heard ? suspect(Cause::collective_rank_behind, Claim::recorder_no_dump, silent,
                          fmt::format("{} left no dump, and {}", listed(silent), who))
                : suspect(Cause::collective_stalled, Claim::recorder_no_dump, {},
                          fmt::format("{} was sent, and {}", missing, who));
      if (!heard) suspicion.finding.subject = {.communicators = {group_text(flight_, stall.group)}};
      add_line(suspicion.finding, waiting.front(), stall.group);
      add_call_place(suspicion.finding, stall);
      return;
    }
  }

  const View& view_;
  const Flight& flight_;
  std::multimap<int, std::size_t> latest_;
  std::vector<Suspicion> found_;
};

}  // namespace

std::vector<Suspicion> find_flight_faults(const View& view) { return Findings(view).run(); }

}  // namespace faultline
