#include "rules/picture/who/membership.h"

#include <algorithm>
#include <set>

#include "rules/picture/who/workers_by.h"

namespace faultline {
namespace {

// The same address exists on every machine of a cluster. If the machine is not known, the only
// candidate that is behind is taken.
void settle_by_who_is_behind(const View& view, GpuMembership& membership) {
  if (membership.kind != GpuMembership::Kind::host_unknown || membership.workers.size() < 2) return;
  std::vector<std::size_t> settled;
  for (std::size_t worker : membership.workers)
    if (view.behind.contains(worker)) settled.push_back(worker);
  membership.workers = settled.size() == 1 ? settled : std::vector<std::size_t>();
}

}  // namespace

// Ranks without any line run somewhere: if launchers give out ranks in blocks, on the hosts of
// their blocks; else on any host without a rank.
bool Memberships::may_have_unseen_ranks(const std::string& host) {
  const Workers& workers = view_.workers;
  if (workers.expected <= static_cast<int>(workers.all.size()) || host.empty()) return false;
  if (!workers.by_host.contains(host) && !workers.by_sender_host.contains(host)) return true;
  const auto [known, is_new] = lacks_ranks_.try_emplace(host, false);
  if (is_new) known->second = lacks_ranks(host);
  return known->second;
}

// Whether a rank of the host's block was not seen.
bool Memberships::lacks_ranks(const std::string& host) {
  if (!rank_hosts_) rank_hosts_ = rank_hosts(view_);
  const std::optional<int> block = rank_hosts_->block_of(host);
  if (!block) return false;
  for (int rank = *block * rank_hosts_->block; rank < (*block + 1) * rank_hosts_->block; ++rank)
    if (!view_.workers.by_rank.contains(rank)) return true;
  return false;
}

// Processes of the job were seen, but none on this host.
bool Memberships::is_host_without_process(const std::string& host) {
  if (!process_hosts_) {
    process_hosts_.emplace();
    for (const ProcessSeen& seen : view_.job.processes().all())
      if (view_.in_attempt(seen.process)) process_hosts_->insert(seen.host);
  }
  return !process_hosts_->empty() && !process_hosts_->contains("") &&
         !process_hosts_->contains(host) && !host.empty();
}

GpuMembership Memberships::of(const std::string& host, const std::string& gpu) {
  const std::vector<Worker>& workers = view_.workers.all;
  GpuMembership membership;
  if (workers.empty()) {
    if (is_host_without_process(host)) membership.kind = GpuMembership::Kind::unseen_rank;
    return membership;
  }
  const bool gpus_unknown =
      view_.by_gpu().any_perhaps_on(host, "", [](std::size_t) { return true; });
  membership.workers = view_.by_gpu().perhaps_on(host, gpu);
  using Kind = GpuMembership::Kind;
  // Two ranks may share a GPU, but two machines cannot have the same name.
  std::set<std::string> machines;
  for (std::size_t i : membership.workers) machines.insert(workers[i].host);
  if (membership.workers.empty())
    membership.kind = gpus_unknown                  ? Kind::gpu_unknown
                      : may_have_unseen_ranks(host) ? Kind::unseen_rank
                                                    : Kind::bystander;
  else
    membership.kind = !host.empty() && machines.size() == 1 && !machines.contains("")
                          ? Kind::rank
                          : Kind::host_unknown;
  settle_by_who_is_behind(view_, membership);
  return membership;
}

}  // namespace faultline
