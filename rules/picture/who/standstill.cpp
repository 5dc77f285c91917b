#include "rules/picture/who/standstill.h"

#include <algorithm>

#include "rules/knowledge/signatures.h"
#include "rules/picture/read/exceptions.h"
#include "rules/picture/read/sayings.h"
#include "rules/picture/view.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {
namespace {

enum class Said { nothing, consequence, mistake, stop };

// What a rank's own line says: that something else failed, that a mistake in the code ended the
// rank, or that it stopped.
Said what_it_says(const View& view, const TorchSaying& saying) {
  if (const auto meaning = meaning_of(view, saying)) {
    const MessageSignature& signature = *meaning->signature;
    if (signature.marks == Marks::ended_well || signature.weight == Weight::harmless)
      return Said::nothing;
    return signature.weight == Weight::echo ? Said::consequence : Said::stop;
  }
  return saying.exception && is_of_the_code(*saying.exception) ? Said::mistake : Said::stop;
}

Said what_it_says(const View& view, const TorchRank& rank) {
  Said most = !rank.timeouts.empty() || rank.stuck ? Said::stop : Said::nothing;
  for (const TorchSaying& saying : rank.said) most = std::max(most, what_it_says(view, saying));
  return most;
}

}  // namespace

Standstill::Standstill(const View& view) {
  // Each of these leaves open who stopped: ranks that were not seen, reports of a stuck job, dumps
  // that ranks write while they wait.
  all_ = view.workers.all.empty() ||
         view.workers.expected > static_cast<int>(view.workers.all.size()) ||
         view.job.reports().latest() != nullptr || !view.job.flight().dumps().empty();
  learn_calls(view);
  if (!view.job.torch().empty()) learn_torch(view);
  learn_remarks(view);
  for (const std::size_t worker : workers_) {
    const Worker& who = view.workers.all[worker];
    hosts_.insert(who.host);
    hosts_.insert(who.sender_host);
  }
}

void Standstill::learn_calls(const View& view) {
  workers_ = view.behind;
  for (const Alignment& alignment : view.alignments) {
    // A rank that called something else is stuck together with the ranks that wait for it.
    if (alignment.divergence || view.has_stopped(alignment.communicator))
      for (const std::size_t member : alignment.members)
        workers_.insert(view.workers.of_member[member]);
  }
  no_calls_ = !view.got_to_work();
  for (const std::size_t index : view.members) {
    const Member& member = view.member(index);
    const bool began_in_vain = !member.complete && member.calls == 0;
    if (member.ending == CommunicatorEnding::aborted || began_in_vain)
      workers_.insert(view.workers.of_member[index]);
  }
}

void Standstill::learn_torch(const View& view) {
  const TorchCrew& crew = view.crew();
  std::set<int> ranks;
  std::set<int> mistaken;
  std::set<std::int64_t> pids;
  for (const TorchRank* rank : crew.ranks())
    if (what_it_says(view, *rank) == Said::mistake) mistaken.insert(rank->rank);
  // If a mistake ended a rank, it is known what the consequences follow from.
  const Said least = mistaken.empty() ? Said::consequence : Said::stop;
  for (const TorchRank* rank : crew.ranks()) {
    if (what_it_says(view, *rank) < least) continue;
    if (rank->rank < 0 || rank->guessed) all_ = true;
    ranks.insert(rank->rank);
  }
  for (const auto& line : view.job.torch().exits()) {
    const ProcessExit& exit = line.fact;
    if (exit.told_to || (exit.exit_code == 0 && !exit.signal)) continue;
    if (!mistaken.empty() && !exit.signal && exit.exit_code == 1) continue;  // its result
    if (exit.ranks.empty() && exit.pid == 0) all_ = true;
    ranks.insert(exit.ranks.begin(), exit.ranks.end());
    pids.insert(exit.pid);
  }
  for (std::size_t i = 0; i < view.workers.all.size(); ++i) {
    const Worker& worker = view.workers.all[i];
    if (ranks.contains(worker.rank) || (worker.pid != 0 && pids.contains(worker.pid)))
      workers_.insert(i);
    else if (mistaken.contains(worker.rank))
      workers_.erase(i);  // why it stopped is known
  }
}

// An error may be at either end of a connection, so it leaves open who stopped.
void Standstill::learn_remarks(const View& view) {
  for (const RemarkingProcess& process : view.job.remarks().processes()) {
    if (!view.in_attempt(process.process)) continue;
    const auto complains = [&](const SaidRemark& said) {
      if (!said.warns()) return false;
      const auto match = view.catalog.signatures->match(said.remark);
      return match && match->signature->weight != Weight::harmless &&
             match->signature->severity >= Severity::error;
    };
    if (std::ranges::any_of(process.said, complains)) all_ = true;
  }
}

bool Standstill::on_host(const std::string& host) const {
  if (all_) return true;
  if (host.empty()) return !workers_.empty();
  // Workers whose host is not known may be there.
  return hosts_.contains(host) || (!workers_.empty() && hosts_.size() == 1 && hosts_.contains(""));
}

}  // namespace faultline
