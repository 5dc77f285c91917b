#include "rules/picture/who/rank_hosts.h"

#include <algorithm>

namespace faultline {
namespace {

// Empty if ranks are not given out in blocks of this size.
RankHosts in_blocks_of(const View& view, int block) {
  std::map<int, std::string> hosts;
  std::map<std::string, int> blocks;
  for (const Worker& worker : view.workers.all) {
    if (worker.rank < 0 || worker.host.empty()) continue;
    const int which = worker.rank / block;
    if (hosts.try_emplace(which, worker.host).first->second != worker.host) return {};
    if (blocks.try_emplace(worker.host, which).first->second != which) return {};
  }
  if (hosts.empty()) return {};
  return {block, std::move(hosts), std::move(blocks)};
}

}  // namespace

std::string RankHosts::host_of(int rank) const {
  if (block <= 0) return {};
  const auto known = host_of_block.find(rank / block);
  return known == host_of_block.end() ? std::string() : known->second;
}

std::optional<int> RankHosts::block_of(const std::string& host) const {
  const auto known = block_of_host.find(host);
  return known == block_of_host.end() ? std::nullopt : std::optional(known->second);
}

RankHosts rank_hosts(const View& view) {
  std::map<std::string, int> on_host;
  int most = 0;
  for (const Worker& worker : view.workers.all)
    if (worker.rank >= 0 && !worker.host.empty()) most = std::max(most, ++on_host[worker.host]);
  const int ranks = view.workers.expected;
  // The smallest size that fits: with larger blocks, it would be chance that no host has more
  // ranks.
  for (int block = std::max(most, 1); block <= ranks && block < 2 * most + 1; ++block) {
    if (ranks % block != 0) continue;
    RankHosts hosts = in_blocks_of(view, block);
    if (hosts.block > 0) return hosts;
  }
  return {};
}

}  // namespace faultline
