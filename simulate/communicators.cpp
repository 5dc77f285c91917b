#include "simulate/communicators.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "simulate/chance.h"

namespace faultline::simulation {

// Ranks are numbered as Megatron does: tensor first, then data, then pipeline.
Communicators::Communicators(const Cluster& cluster, const NcclVersion& version)
    : cluster_(&cluster), version_(version) {
  const Options& options = cluster.options();
  const int world = cluster.ranks();
  const int tensor = options.tensor_parallel;
  stages_ = options.pipeline_parallel;
  const int data = world / tensor / stages_;
  seats_.resize(static_cast<std::size_t>(world));

  std::vector<std::vector<int>> whole(1), tensors, pipelines, datas;
  whole[0].resize(static_cast<std::size_t>(world));
  std::iota(whole[0].begin(), whole[0].end(), 0);
  for (int first = 0; first < world; first += tensor) {
    tensors.emplace_back();
    for (int t = 0; t < tensor; ++t) tensors.back().push_back(first + t);
  }
  for (int within = 0; within < tensor * data; ++within) {
    pipelines.emplace_back();
    for (int stage = 0; stage < stages_; ++stage)
      pipelines.back().push_back(within + stage * tensor * data);
  }
  for (int stage = 0; stage < stages_; ++stage)
    for (int t = 0; t < tensor; ++t) {
      datas.emplace_back();
      for (int d = 0; d < data; ++d) datas.back().push_back(t + tensor * (d + data * stage));
    }

  const bool can_split = version.since(18, 3);
  add(Group::world, whole, false);
  if (tensor > 1) add(Group::tensor, tensors, false);
  if (stages_ > 1) add(Group::pipeline, pipelines, false);
  if (data > 1) add(Group::data, datas, can_split);
  // Expert, context, embedding groups, …: NCCL sees only more communicators.
  for (int more = 0; slots() < options.communicators; ++more) {
    if (more % 2 == 0 && data > 1)
      add(Group::data, datas, false);
    else if (tensor > 1)
      add(Group::tensor, tensors, false);
    else
      add(Group::world, whole, false);
  }
}

void Communicators::add(Group group, const std::vector<std::vector<int>>& groups, bool split) {
  const int slot = static_cast<int>(seats_.front().size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Communicator made{.group = group, .members = groups[i]};
    made.salt = chance(cluster_->options().seed, 0xc0, slot, i);
    if (split) made.color = static_cast<int>(i);
    std::set<int> hosts;
    for (std::size_t rank = 0; rank < groups[i].size(); ++rank) {
      hosts.insert(cluster_->host_of(groups[i][rank]));
      seats_[static_cast<std::size_t>(groups[i][rank])].push_back(
          {static_cast<int>(all_.size()), static_cast<int>(rank)});
    }
    made.nodes = static_cast<int>(hosts.size());
    all_.push_back(std::move(made));
  }
}

std::optional<int> Communicators::slot_of(Group group) const {
  for (int slot = 0; slot < slots(); ++slot)
    if (group_of(slot) == group) return slot;
  return std::nullopt;
}

std::vector<int> Communicators::further_slots() const {
  std::vector<int> further;
  for (int slot = 0; slot < slots(); ++slot)
    if (slot_of(group_of(slot)) != slot) further.push_back(slot);
  return further;
}

int Communicators::stage_of(int rank) const { return rank / (cluster_->ranks() / stages_); }

std::uint64_t Communicators::id(int communicator, int attempt) const {
  const Communicator& it = at(communicator);
  if (!version_.since(16, 2)) return 0;
  if (it.color >= 0 && version_.since(23, 4)) return 0;
  return chance(it.salt, attempt);
}

}  // namespace faultline::simulation
