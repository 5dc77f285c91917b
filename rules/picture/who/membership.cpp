#include "rules/picture/who/membership.h"

#include <algorithm>
#include <set>

#include "rules/picture/who/rank_hosts.h"

namespace faultline {
namespace {

// The same address exists on every machine of a cluster. If the machine is not known, the rank that
// is waited for settles it.
void settle_by_who_is_behind(const View& view, GpuMembership& membership) {
  if (membership.kind != GpuMembership::Kind::host_unknown || membership.workers.size() < 2) return;
  std::vector<std::size_t> settled;
  for (std::size_t worker : membership.workers)
    if (view.behind.contains(worker)) settled.push_back(worker);
  membership.workers = settled.size() == 1 ? settled : std::vector<std::size_t>();
}

// Ranks that no line was seen of are somewhere: where launchers give ranks out in blocks, on the
// hosts of their blocks, else on any host without a rank.
bool may_have_unseen_ranks(const View& view, const std::string& host) {
  const std::vector<Worker>& workers = view.workers.all;
  if (view.workers.expected <= static_cast<int>(workers.size()) || host.empty()) return false;
  const bool is_seen = std::ranges::any_of(workers, [&](const Worker& worker) {
    return worker.host == host || worker.sender_host == host;
  });
  if (!is_seen) return true;
  std::set<int> seen;
  for (const Worker& worker : workers) seen.insert(worker.rank);
  const RankHosts hosts = rank_hosts(view);
  for (const auto& [block, name] : hosts.host_of_block)
    for (int rank = block * hosts.block; name == host && rank < (block + 1) * hosts.block; ++rank)
      if (!seen.contains(rank)) return true;
  return false;
}

// Processes of the job were seen, and none of them there.
bool is_host_without_process(const View& view, const std::string& host) {
  bool elsewhere = false;
  for (const ProcessSeen& seen : view.job.processes().all()) {
    if (!view.in_attempt(seen.process)) continue;
    if (seen.host.empty() || seen.host == host) return false;
    elsewhere = true;
  }
  return elsewhere && !host.empty();
}

}  // namespace

GpuMembership membership_of(const View& view, const std::string& host, const std::string& gpu) {
  const std::vector<Worker>& workers = view.workers.all;
  GpuMembership membership;
  if (workers.empty()) {
    if (is_host_without_process(view, host)) membership.kind = GpuMembership::Kind::unseen_rank;
    return membership;
  }
  bool gpus_unknown = false;
  for (std::size_t i : view.workers.perhaps_on(host)) {
    gpus_unknown |= workers[i].gpu.empty();
    if (workers[i].gpu == gpu) membership.workers.push_back(i);
  }
  using Kind = GpuMembership::Kind;
  // Two ranks on one GPU are possible; two machines of one name are not.
  std::set<std::string> machines;
  for (std::size_t i : membership.workers) machines.insert(workers[i].host);
  if (membership.workers.empty())
    membership.kind = gpus_unknown                        ? Kind::gpu_unknown
                      : may_have_unseen_ranks(view, host) ? Kind::unseen_rank
                                                          : Kind::bystander;
  else
    membership.kind = !host.empty() && machines.size() == 1 && !machines.contains("")
                          ? Kind::rank
                          : Kind::host_unknown;
  settle_by_who_is_behind(view, membership);
  return membership;
}

}  // namespace faultline
