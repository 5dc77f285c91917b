#include "rules/detect/p2p_mismatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/prose.h"
#include "rules/picture/calls/p2p_waits.h"
#include "rules/picture/calls/wait_graph.h"

namespace faultline {
namespace {

constexpr std::size_t kMostQueued = 16;       // calls on other communicators after those that wait
constexpr std::uint64_t kMostQueuedHere = 3;  // and to the same peer

constexpr std::size_t kMostFindings = 4;
constexpr std::size_t kMostDisputes =
    10'000;  // enough to name the odd rank of an all-to-all that went wrong
// NCCL finishes a Send that fits its buffers before anybody receives it; this size does not fit.
constexpr std::uint64_t kMoreThanBuffers = 16 << 20;

// Two ranks whose calls to each other do not match.
struct Dispute {
  std::size_t communicator = 0;
  std::size_t one = 0;  // members
  std::size_t other = 0;
  Sureness sure;
  std::string what;  // a sentence about them
  std::vector<Evidence> evidence;
};

std::string who(const View& view, std::size_t member) {
  const Worker& worker = view.worker_of(member);
  if (worker.rank >= 0) return fmt::format("rank {}", worker.rank);
  return fmt::format("rank {} of the communicator", view.member(member).init->rank);
}

const Flow* flow_of(const View& view, std::size_t member, PeerCall call, std::size_t peer) {
  return view.job.traffic().of(member).find(call, view.member(peer).init->rank);
}

void add_call(const View& view, std::vector<Evidence>& evidence, std::size_t member, PeerCall call,
              std::size_t peer) {
  if (evidence.size() >= kMostLines) return;
  if (const Flow* flow = flow_of(view, member, call, peer))
    evidence.push_back(line_of(view, member, call, *flow));
  else if (view.member(member).last_line.known())
    evidence.push_back(view.evidence(view.member(member).last_line));
}

// Files that several processes write: their lines may have run into each other.
std::set<std::uint32_t> shared_sources(const View& view) {
  std::map<std::uint32_t, ProcessKey> writer;
  std::set<std::uint32_t> shared;
  for (const Member& member : view.job.progress().members()) {
    auto [known, is_new] = writer.try_emplace(member.calls_source, member.process);
    if (!is_new && known->second != member.process) shared.insert(member.calls_source);
  }
  return shared;
}

// "rank 2 went on without Recv #11 from rank 1, which called Send 11 times"
Dispute left_out(const View& view, const P2pGap& gap, const std::set<std::uint32_t>& shared) {
  Dispute dispute{.communicator = gap.communicator, .one = gap.owing, .other = gap.waiting};
  const PeerCall missing = counterpart(gap.called);
  const std::string peer =
      gap.owing == gap.waiting ? std::string("itself") : who(view, gap.waiting);
  dispute.what =
      gap.passed == P2pGap::Passed::counted
          ? fmt::format(
                "{} made only {} {} {} {} before a collective that both entered: at least "
                "one too few",
                who(view, gap.owing), gap.answered, missing == PeerCall::send ? "Sends" : "Recvs",
                missing == PeerCall::send ? "to" : "from", peer)
          : fmt::format("{} went on without {} #{} {} {}, which called {} {}", who(view, gap.owing),
                        name_of(missing), gap.answered + 1,
                        missing == PeerCall::send ? "to" : "from", peer, name_of(gap.called),
                        counted(gap.calls, "time"));
  dispute.sure = Claim::p2p_left_out;
  if (gap.passed == P2pGap::Passed::counted)
    dispute.sure.add(Ground::passed_by_count);
  else if (gap.passed == P2pGap::Passed::ahead)
    dispute.sure.add(Ground::one_passed);
  else if (gap.passed != P2pGap::Passed::beyond)
    dispute.sure.add(Ground::passed_elsewhere);
  const bool one_line = gap.calls - gap.answered == 1;
  const bool lost = view.loss > 0 || view.is_torn(gap.owing) || view.is_torn(gap.waiting) ||
                    (one_line && shared.contains(view.member(gap.owing).calls_source));
  if (lost) dispute.sure.add(Ground::log_torn);
  // Nobody waits in the call any more: it was made, or only its line is missing.
  if (one_line && gap.passed == P2pGap::Passed::counted) dispute.sure.add(Ground::one_line_tells);
  add_call(view, dispute.evidence, gap.waiting, gap.called, gap.owing);
  add_call(view, dispute.evidence, gap.owing, missing, gap.waiting);
  return dispute;
}

std::string size_text(const Payload& message) {
  const std::string_view datatype = datatype_name(static_cast<int>(message.datatype));
  std::string text = fmt::format(
      "{} {} {}", message.count_is_size != 0 ? "size" : "count", std::uint64_t{message.count},
      datatype.empty() ? fmt::format("datatype {}", std::uint64_t{message.datatype})
                       : std::string(datatype));
  if (auto bytes = bytes_of(message)) text += fmt::format(" ({} bytes)", *bytes);
  return text;
}

std::optional<Dispute> sizes_differ(const View& view, std::size_t communicator, std::size_t sender,
                                    const Flow& sent, std::size_t receiver, const Flow& received) {
  const std::uint64_t both = std::min(sent.calls, received.calls);
  const std::uint64_t kept = std::max(sent.calls, received.calls);
  for (std::uint64_t which = kept > Flow::kKept ? kept - Flow::kKept : 0; which < both; ++which) {
    const auto out = sent.message(which);
    const auto in = received.message(which);
    if (!out || !in || !differ_in_size(*out, *in)) continue;
    Dispute dispute{.communicator = communicator, .one = sender, .other = receiver};
    dispute.what = fmt::format("{} sent {} as Send #{} to {}, which receives {}", who(view, sender),
                               size_text(*out), which + 1, who(view, receiver), size_text(*in));
    dispute.sure = Claim::p2p_sizes;
    if (view.is_torn(sender) || view.is_torn(receiver)) dispute.sure.add(Ground::log_torn);
    add_call(view, dispute.evidence, sender, PeerCall::send, receiver);
    add_call(view, dispute.evidence, receiver, PeerCall::receive, sender);
    return dispute;
  }
  return std::nullopt;
}

// Whether the rank, in its which-th exchange, first sent and then received, not in one group.
bool sends_first(const Flow& sent, const Flow& received, std::uint64_t which) {
  const auto out = sent.line_of(which);
  const auto in = received.line_of(which);
  return out && in && sent.source == received.source && *out < *in && !sent.is_grouped(which) &&
         !received.is_grouped(which);
}

bool was_small(const Flow& sent, std::uint64_t which) {
  const auto message = sent.message(which);
  return message && bytes_of(*message).value_or(kMoreThanBuffers) < kMoreThanBuffers;
}

// Whether the member may hang in its which-th exchange: the message does not fit NCCL's buffers,
// and after it came only calls that a host queues behind one that waits.
bool may_hang_in(const View& view, std::size_t member, const Flow& sent, const Flow& received,
                 std::uint64_t which) {
  if (view.member(member).ending || view.is_live(member)) return false;
  if (std::max(sent.calls, received.calls) > which + 1 + kMostQueuedHere) return false;
  const auto message = sent.message(which);
  if (!message || bytes_of(*message).value_or(0) < kMoreThanBuffers) return false;
  const std::uint64_t line = *received.line_of(which);
  const MemberTraffic& traffic = view.job.traffic().of(member);
  if (traffic.collective_source == received.source && traffic.collective_line > line) return false;
  std::size_t queued = 0;
  for (std::size_t m : view.worker_of(member).members) {
    const Member& other = view.member(m);
    if (other.calls_source != received.source) continue;
    for (std::size_t i = other.recent.size(); i > 0 && other.recent[i - 1].line > line; --i)
      ++queued;
  }
  return queued <= kMostQueued;
}

std::optional<Dispute> both_send_first(const View& view, std::size_t communicator, std::size_t one,
                                       std::size_t other) {
  const Flow* out = flow_of(view, one, PeerCall::send, other);
  const Flow* back = flow_of(view, one, PeerCall::receive, other);
  const Flow* others_out = flow_of(view, other, PeerCall::send, one);
  const Flow* others_back = flow_of(view, other, PeerCall::receive, one);
  if (out == nullptr || back == nullptr || others_out == nullptr || others_back == nullptr)
    return std::nullopt;
  const std::uint64_t exchanges =
      std::min({out->calls, back->calls, others_out->calls, others_back->calls});
  const auto both_first = [&](std::uint64_t which) {
    return sends_first(*out, *back, which) && sends_first(*others_out, *others_back, which);
  };
  if (exchanges == 0 || !both_first(exchanges - 1)) return std::nullopt;
  const std::uint64_t last = exchanges - 1;
  if (!may_hang_in(view, one, *out, *back, last) ||
      !may_hang_in(view, other, *others_out, *others_back, last))
    return std::nullopt;
  // If such an exchange went well before, the buffers take it, or timing decides.
  if (last > 0 && !out->line_of(last - 1)) return std::nullopt;
  for (std::uint64_t next = last; next > 0 && out->line_of(next - 1); --next)
    if (both_first(next - 1) && !was_small(*out, next - 1)) return std::nullopt;
  Dispute dispute{.communicator = communicator, .one = one, .other = other};
  dispute.what = fmt::format(
      "{} and {} both call Send before Recv, and do not group them: each may wait for the other",
      who(view, one), who(view, other));
  dispute.sure = Claim::p2p_sends_first;
  for (std::size_t member : {one, other}) {
    add_call(view, dispute.evidence, member, PeerCall::send, member == one ? other : one);
    add_call(view, dispute.evidence, member, PeerCall::receive, member == one ? other : one);
  }
  return dispute;
}

// Adds what one pair of ranks shows by itself.
void add_disputes_of_pairs(const View& view, std::size_t communicator,
                           const std::set<std::pair<std::size_t, std::size_t>>& named,
                           std::vector<Dispute>& disputes) {
  const std::vector<std::size_t> by_rank = comparable_by_rank(view, communicator);
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    const std::size_t sender = by_rank[rank];
    if (sender == kNobody) continue;
    for (const Flow& sent : view.job.traffic().of(sender).flows(PeerCall::send)) {
      const auto peer = static_cast<std::size_t>(sent.peer);
      if (sent.peer < 0 || peer >= by_rank.size() || by_rank[peer] == kNobody) continue;
      const std::size_t receiver = by_rank[peer];
      const Flow* received = flow_of(view, receiver, PeerCall::receive, sender);
      if (disputes.size() >= kMostDisputes) return;
      // After a call that was left out, all later messages are shifted by one.
      if (received == nullptr || named.contains(std::minmax(sender, receiver))) continue;
      if (auto found = sizes_differ(view, communicator, sender, sent, receiver, *received))
        disputes.push_back(std::move(*found));
      else if (rank < peer)
        if (auto waits = both_send_first(view, communicator, sender, receiver))
          disputes.push_back(std::move(*waits));
    }
  }
}

Suspicion suspicion_of_dispute(const View& view, Cause cause, Sureness sure, std::string title,
                               std::size_t communicator, const std::vector<std::size_t>& members) {
  Suspicion suspicion = hang(cause, std::move(sure), view.member(members.front()).last_line.time);
  Finding& finding = suspicion.finding;
  finding.title = std::move(title);
  if (!view.communicators[communicator].matched) suspicion.sure.add(Ground::members_guessed);
  finding.subject = subject_of(view, members);
  finding.subject.communicators = {view.communicators[communicator].id};
  return suspicion;
}

std::vector<std::string> shared_communicators(const View& view, std::size_t one,
                                              std::size_t other) {
  std::vector<std::string> ids;
  for (const Communicator& communicator : view.communicators) {
    const auto has = [&](std::size_t member) {
      return std::ranges::any_of(communicator.members, [&](std::size_t m) {
        return view.workers.of_member[m] == view.workers.of_member[member];
      });
    };
    if (has(one) && has(other)) ids.push_back(communicator.id);
  }
  return ids;
}

// One finding for each rank that many pairs have in common, else for each pair.
void describe_disputes(const View& view, std::vector<Dispute> disputes,
                       std::vector<Suspicion>& found) {
  while (!disputes.empty() && found.size() < kMostFindings) {
    std::map<std::size_t, std::size_t> involved;
    for (const Dispute& dispute : disputes)
      for (std::size_t member : std::set<std::size_t>{dispute.one, dispute.other})
        ++involved[member];
    const auto hub = std::ranges::max_element(involved, {}, [](const auto& e) { return e.second; });
    const auto its = std::ranges::stable_partition(
        disputes, [&](const Dispute& d) { return d.one != hub->first && d.other != hub->first; });
    const Dispute& first = *std::ranges::max_element(
        its, {}, [&](const Dispute& d) { return view.catalog.grounds.log_odds(d.sure); });
    std::vector<std::size_t> members;
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    for (const Dispute& dispute : its) pairs.insert(std::minmax(dispute.one, dispute.other));
    // A rank that disagrees with several others is the odd one. If it disagrees with one, either
    // may be.
    if (pairs.size() > 1 || first.one == first.other)
      members = {hub->first};
    else
      members = {first.one, first.other};
    std::string title =
        fmt::format("{} (communicator {})", first.what, view.communicators[first.communicator].id);
    begin_with_a_capital(title);
    if (pairs.size() > 1)
      title += fmt::format("; {} disagrees with {} ranks", who(view, hub->first), pairs.size());
    Suspicion suspicion = suspicion_of_dispute(view, Cause::software_p2p_mismatch, first.sure,
                                               std::move(title), first.communicator, members);
    // The two ranks hold up every communicator that both are members of.
    if (!first.sure.has(Ground::log_torn) && first.sure.claim != Claim::p2p_sends_first &&
        members.size() == 2)
      suspicion.finding.subject.communicators = shared_communicators(view, first.one, first.other);
    for (const Dispute& dispute : its)
      for (const Evidence& line : dispute.evidence)
        if (suspicion.finding.evidence.size() < kMostLines)
          suspicion.finding.evidence.push_back(line);
    found.push_back(std::move(suspicion));
    disputes.erase(its.begin(), its.end());
  }
  // A program has one mistake; several unrelated pairs look like lost lines.
  if (found.size() > 1)
    for (Suspicion& suspicion : found) suspicion.sure.add(Ground::late_here_and_there);
}

using Gaps = std::vector<const P2pGap*>;

bool is_torn(const View& view, const Gaps& gaps) {
  return std::ranges::any_of(gaps, [&](const P2pGap* gap) { return view.is_torn(gap->owing); });
}

Sureness gap_sureness(const View& view, Claim claim, const Gaps& gaps, bool alone) {
  Sureness sure = claim;
  if (!alone) sure.add(Ground::late_here_and_there);
  if (is_torn(view, gaps)) sure.add(Ground::log_torn);
  return sure;
}

// No rank of a circle can go on, and no rank outside can help.
Suspicion circle(const View& view, const Gaps& gaps, bool alone) {
  std::set<std::size_t> members;
  for (const P2pGap* gap : gaps) {
    members.insert(gap->waiting);
    members.insert(gap->owing);
  }
  const P2pGap& first = *gaps.front();
  const bool sends =
      std::ranges::all_of(gaps, [](const P2pGap* gap) { return gap->called == PeerCall::send; });
  std::string title = fmt::format(
      "{} wait for each other in communicator {}: {}",
      people_of(view, {members.begin(), members.end()}), view.communicators[first.communicator].id,
      sends ? "each sends, and none has called the Recv that another waits for"
            : fmt::format("{} waits in {} #{} for {}", who(view, first.waiting),
                          name_of(first.called), first.answered + 1, who(view, first.owing)));
  Suspicion suspicion = suspicion_of_dispute(
      view, Cause::software_p2p_mismatch, gap_sureness(view, Claim::p2p_circle, gaps, alone),
      std::move(title), first.communicator, {members.begin(), members.end()});
  for (const P2pGap* gap : gaps)
    add_call(view, suspicion.finding.evidence, gap->waiting, gap->called, gap->owing);
  return suspicion;
}

// Peers wait for a rank that itself waits for nobody: it stopped before it made its call.
Suspicion stopped(const View& view, const Gaps& gaps, bool alone) {
  const P2pGap& first = *gaps.front();
  const PeerCall missing = counterpart(first.called);
  std::set<std::size_t> peers;
  std::set<std::string> ids;
  for (const P2pGap* gap : gaps) {
    peers.insert(view.workers.of_member[gap->waiting]);
    ids.insert(view.communicators[gap->communicator].id);
  }
  std::string title = fmt::format(
      "{} never called {} #{} {} {} on communicator {}; {}", people_of(view, {first.owing}),
      name_of(missing), first.answered + 1, missing == PeerCall::send ? "to" : "from",
      who(view, first.waiting), view.communicators[first.communicator].id,
      peers.size() == 1 ? "that peer waits for it"
                        : fmt::format("{} peers wait for it", peers.size()));
  Suspicion suspicion = suspicion_of_dispute(view, Cause::collective_rank_behind,
                                             gap_sureness(view, Claim::p2p_waited_for, gaps, alone),
                                             std::move(title), first.communicator, {first.owing});
  Finding& finding = suspicion.finding;
  finding.subject.communicators = {ids.begin(), ids.end()};
  const Member& late = view.member(first.owing);
  finding.evidence.push_back(view.evidence(late.latest_line()));
  for (const P2pGap* gap : gaps)
    if (finding.evidence.size() < kMostLines)
      add_call(view, finding.evidence, gap->waiting, gap->called, gap->owing);
  return suspicion;
}

void add_ends_of_waits(const View& view, const std::vector<P2pGap>& gaps,
                       std::vector<Suspicion>& found) {
  const std::vector<WaitEnd> ends = ends_of_waits(view, gaps);
  std::size_t added = 0;
  for (const WaitEnd& end : ends) {
    // A rank that is also behind in a collective is named by that finding.
    if (end.behind || added == kMostFindings) continue;
    Gaps of_end;
    for (const P2pGap& gap : gaps)
      if (gap.passed == P2pGap::Passed::no &&
          end.workers.contains(view.workers.of_member[gap.owing]) &&
          (end.workers.size() == 1 || end.workers.contains(view.workers.of_member[gap.waiting])))
        of_end.push_back(&gap);
    if (of_end.empty()) continue;
    ++added;
    found.push_back(end.workers.size() == 1 ? stopped(view, of_end, ends.size() == 1)
                                            : circle(view, of_end, ends.size() == 1));
  }
}

}  // namespace

std::vector<Suspicion> find_p2p_mismatches(const View& view) {
  const std::vector<P2pGap>& gaps = view.p2p_gaps();
  std::vector<Dispute> disputes;
  std::set<std::pair<std::size_t, std::size_t>> named;
  std::set<std::uint32_t> shared;
  for (const P2pGap& gap : gaps) {
    // A rank that only waits for a call that has not come yet matches its peer up to there.
    if (gap.passed == P2pGap::Passed::no || disputes.size() >= kMostDisputes) continue;
    named.insert(std::minmax(gap.waiting, gap.owing));
    if (shared.empty()) shared = shared_sources(view);
    disputes.push_back(left_out(view, gap, shared));
  }
  for (std::size_t which = 0; which < view.communicators.size(); ++which)
    add_disputes_of_pairs(view, which, named, disputes);
  std::vector<Suspicion> found;
  describe_disputes(view, std::move(disputes), found);
  add_ends_of_waits(view, gaps, found);
  return found;
}

}  // namespace faultline
