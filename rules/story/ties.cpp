#include "rules/story/ties.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "model/cause.h"
#include "rules/knowledge/causality.h"
#include "rules/knowledge/ground_names.h"
#include "rules/picture/who/owner.h"

namespace faultline {
namespace {

// How the job stopped, as far as its findings show.
class Stop {
 public:
  Stop(const View& view, const std::vector<Candidate>& candidates)
      : view_(view), causality_(view.catalog.causality) {
    for (const Candidate& candidate : candidates)
      if (candidate.in_question()) learn(candidate.finding());
  }

  bool is_tied_to(const Suspicion& fault) const {
    if (breaks_connections(fault)) return true;
    const bool for_good = went_down_for_good(fault.finding);
    const std::vector<std::string>& hosts = fault.finding.subject.hosts;
    return !hosts.empty() && std::ranges::all_of(hosts, [&](const std::string& host) {
      return stopped_whole(host) || is_end_by(fault, host) || (for_good && is_waited_for(host)) ||
             (fault.sure.has(Ground::process_unknown) && counts_for_itself(host));
    });
  }

 private:
  void learn(const Finding& finding) {
    const Cause cause = finding.cause;
    const Subject& subject = finding.subject;
    if (is_one_of(cause, {Cause::collective_rank_behind, Cause::process_silent,
                          Cause::launch_rank_missing}))
      waited_for_.insert(subject.ranks.begin(), subject.ranks.end());
    connection_broke_ |=
        is_one_of(cause, {Cause::network_transport_error, Cause::network_peer_lost});
    if (is(cause, Trait::leaves_open_why) && subject.hosts.size() == 1 &&
        !(is(cause, Trait::absence) && came_in_part(subject.hosts.front())))
      ends_.emplace(subject.hosts.front(), cause);
    if (cause == Cause::collective_stalled) learn_where_it_stands(subject);
  }

  // A communicator of one host that does not finish its call.
  void learn_where_it_stands(const Subject& subject) {
    for (const Communicator& communicator : view_.communicators) {
      if (std::ranges::find(subject.communicators, communicator.id) == subject.communicators.end())
        continue;
      std::set<std::string> hosts;
      std::set<int> ranks;
      for (const std::size_t member : communicator.members) {
        hosts.insert(view_.worker_of(member).host);
        ranks.insert(view_.worker_of(member).rank);
      }
      if (hosts.size() == 1) standing_.merge(ranks);
    }
  }

  bool waits_for(const Worker& worker) const { return waited_for_.contains(worker.rank); }

  template <class Is>
  bool any_on(const std::string& host, Is is) const {
    return std::ranges::any_of(view_.workers.perhaps_on(host),
                               [&](std::size_t index) { return is(view_.workers.all[index]); });
  }

  bool is_waited_for(const std::string& host) const {
    return any_on(host, [&](const Worker& worker) { return waits_for(worker); });
  }

  // Whether a rank of the host is not waited for: then it was not the whole host that failed.
  bool came_in_part(const std::string& host) const {
    return any_on(host, [&](const Worker& worker) { return !waits_for(worker); });
  }

  // Whether all ranks of the host are waited for, or stand in a call of their own, and ranks
  // elsewhere are not: then the host stopped, and neither one of its ranks nor the whole job.
  bool stopped_whole(const std::string& host) const {
    const auto stands = [&](const Worker& worker) {
      return waits_for(worker) || standing_.contains(worker.rank);
    };
    const auto goes_on = [&](const Worker& worker) { return !stands(worker); };
    return any_on(host, stands) && !any_on(host, goes_on) &&
           std::ranges::any_of(view_.workers.all, goes_on);
  }

  // In a container a process has another PID than in the host's kernel: it may be the rank of this
  // host that is waited for.
  bool counts_for_itself(const std::string& host) const {
    return any_on(host, [&](const Worker& worker) {
      return worker.pid != 0 && !is_counted_by_host(worker.pid) && waits_for(worker);
    });
  }

  // Whether something failed on this host for a reason that is open, and such a fault can be the
  // reason.
  bool is_end_by(const Suspicion& fault, const std::string& host) const {
    if (fault.sure.has(Ground::use_unknown)) return false;
    const auto [begin, end] = ends_.equal_range(host);
    return std::any_of(begin, end, [&](const auto& failed) {
      return causality_.between(fault.finding.cause, failed.second) != nullptr;
    });
  }

  // Whether a connection broke, and this is a NIC that the job's ranks use.
  bool breaks_connections(const Suspicion& fault) const {
    return connection_broke_ && !fault.finding.subject.nics.empty() &&
           !fault.sure.has(Ground::use_unknown);
  }

  // Whether the log shows no start of the host after this, but one before: no rank has run there
  // since.
  bool went_down_for_good(const Finding& fault) const {
    if (fault.cause != Cause::host_down || fault.evidence.empty()) return false;
    const Evidence& line = fault.evidence.front();
    return std::ranges::any_of(view_.job.kernel_lines().logs(), [&](const KernelLog& log) {
      return view_.job.sources().at(log.source).source.name == line.source && !log.boots.empty() &&
             log.boots.back().line.line <= line.line;
    });
  }

  const View& view_;
  const Causality causality_;
  std::set<int> waited_for_;
  std::set<int> standing_;  // in a call that only ranks of their host belong to
  bool connection_broke_ = false;
  std::multimap<std::string, Cause> ends_;  // host, and what failed there
};

std::vector<std::vector<int>> ranks_by_communicator(const View& view) {
  std::vector<std::vector<int>> ranks_of;
  for (const Communicator& communicator : view.communicators) {
    std::vector<int>& ranks = ranks_of.emplace_back();
    for (const std::size_t member : communicator.members)
      ranks.push_back(view.worker_of(member).rank);
    std::ranges::sort(ranks);
  }
  return ranks_of;
}

}  // namespace

void find_held_up(const View& view, std::vector<Candidate>& candidates) {
  std::vector<std::vector<int>> ranks_of;  // by communicator, sorted
  for (Candidate& candidate : candidates) {
    const Subject& subject = candidate.finding().subject;
    if (!is_of(candidate.finding().cause, Family::network)) continue;
    if (subject.hosts.size() < 2 || subject.ranks.size() < 2) continue;
    if (ranks_of.empty()) ranks_of = ranks_by_communicator(view);
    std::size_t smallest = SIZE_MAX;
    for (const std::vector<int>& members : ranks_of) {
      const bool meet = std::ranges::all_of(
          subject.ranks, [&](int rank) { return std::ranges::binary_search(members, rank); });
      if (!meet || members.size() > smallest) continue;
      if (members.size() < smallest) candidate.held_up.clear();
      smallest = members.size();
      candidate.held_up.insert(candidate.held_up.end(), members.begin(), members.end());
    }
  }
}

void find_untied(const View& view, std::vector<Candidate>& candidates) {
  const auto is_open = [](const Candidate& candidate) {
    return !candidate.symptom && candidate.in_question() &&
           candidate.suspicion.sure.has(Ground::time_open);
  };
  if (std::ranges::none_of(candidates, is_open)) return;
  const Stop stop(view, candidates);
  for (Candidate& candidate : candidates)
    if (is_open(candidate)) candidate.untied = !stop.is_tied_to(candidate.suspicion);
}

}  // namespace faultline
