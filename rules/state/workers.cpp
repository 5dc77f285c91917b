#include "rules/state/workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace faultline {
namespace {

// What tells one worker of a process from another.
using WorkerKey = std::tuple<std::string, std::int64_t, std::uint32_t, std::string>;

WorkerKey key_of(const Member& member) {
  std::string which;
  if (const auto& init = member.init)
    which = init->gpu.empty() && init->cuda_device >= 0
                ? fmt::format("device {}", init->cuda_device)
                : init->gpu;  // 2.4 prints no busId
  // Without a pid, processes can be told apart only by where their lines came from.
  bool known = member.pid != 0 && !member.host.empty();
  return {member.host, member.pid, known ? 0 : member.source, which};
}

const Communicator* world_of(const std::vector<Communicator>& communicators) {
  const Communicator* world = nullptr;
  for (const Communicator& communicator : communicators)
    if (communicator.matched && (world == nullptr || communicator.nranks > world->nranks))
      world = &communicator;
  return world;
}

}  // namespace

Workers workers_of(const Progress& progress, const std::vector<Communicator>& communicators,
                   const std::vector<std::size_t>& of) {
  const std::vector<Member>& members = progress.members();
  std::map<WorkerKey, std::size_t> known;
  std::map<std::tuple<std::string, std::int64_t, std::uint32_t>, std::size_t> only_one;
  Workers workers;
  std::vector<Worker> found;
  std::vector<std::size_t> of_member(members.size());

  // Members with a GPU make workers; those without one (no Init line) join the process's worker.
  auto place = [&](std::size_t index, const WorkerKey& key) {
    auto [at, is_new] = known.try_emplace(key, found.size());
    if (is_new)
      found.push_back({.process = members[index].process,
                       .host = members[index].host,
                       .sender_host = members[index].sender_host,
                       .pid = members[index].pid,
                       .gpu = members[index].init ? members[index].init->gpu : std::string()});
    Worker& worker = found[at->second];
    worker.members.push_back(index);
    of_member[index] = at->second;
    only_one[{std::get<0>(key), std::get<1>(key), std::get<2>(key)}] = at->second;
  };
  for (std::size_t index : of)
    if (WorkerKey key = key_of(members[index]); !std::get<3>(key).empty()) place(index, key);
  for (std::size_t index : of) {
    WorkerKey key = key_of(members[index]);
    if (!std::get<3>(key).empty()) continue;
    auto process = only_one.find({std::get<0>(key), std::get<1>(key), std::get<2>(key)});
    if (process == only_one.end()) {
      place(index, key);
    } else {
      found[process->second].members.push_back(index);
      of_member[index] = process->second;
    }
  }

  if (const Communicator* world = world_of(communicators)) {
    workers.expected = world->nranks;
    for (std::size_t index : world->members)
      if (const auto& init = members[index].init) found[of_member[index]].rank = init->rank;
  }
  for (Worker& worker : found)
    for (std::size_t index : worker.members)
      if (worker.rank < 0) worker.rank = members[index].launcher_rank;
  if (workers.expected == 0)
    for (const Communicator& communicator : communicators)
      workers.expected = std::max(workers.expected, communicator.nranks);

  std::vector<std::size_t> order(found.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    auto sort_key = [&](std::size_t i) {
      const Worker& w = found[i];
      return std::make_tuple(w.rank < 0, w.rank, std::string_view(w.host), w.pid,
                             std::string_view(w.gpu));
    };
    return sort_key(a) < sort_key(b);
  });
  std::vector<std::size_t> position(found.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    position[order[i]] = i;
    workers.all.push_back(std::move(found[order[i]]));
  }
  workers.of_member.resize(members.size());
  for (std::size_t index : of) workers.of_member[index] = position[of_member[index]];
  return workers;
}

}  // namespace faultline
