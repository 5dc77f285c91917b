#include "rules/state/workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "rules/state/rank_ties.h"

namespace faultline {
namespace {

const std::vector<std::size_t> kNone;

// Distinguishes the workers of a process.
using WorkerKey = std::tuple<std::string, std::int64_t, std::uint32_t, std::string>;

WorkerKey key_of(const Member& member) {
  std::string which;
  if (const auto& init = member.init)
    which = init->gpu.empty() && init->cuda_device >= 0
                ? fmt::format("device {}", init->cuda_device)
                : init->gpu;  // 2.4 prints no busId
  // Without a pid, processes can be distinguished only by the source of their lines.
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

// Infers the rank of a worker whose Init line was lost from the other workers of its host:
// frameworks number the ranks of a host in the order of its devices.
class Seats {
 public:
  Seats(const Progress& progress, const std::vector<Worker>& workers, int expected)
      : progress_(progress) {
    for (int rank = 0; rank < expected; ++rank) free_.insert(rank);
    for (const Worker& worker : workers) {
      if (worker.rank < 0) continue;
      free_.erase(worker.rank);
      const int device = device_of(worker);
      if (worker.host.empty() || device < 0) continue;
      Host& host = hosts_[worker.host];
      const int first = worker.rank - device;
      if (host.known++ == 0) host.first = first;
      host.regular &= first == host.first;
    }
  }

  // -1: not known.
  int rank_of(const Worker& worker) const {
    const auto host = hosts_.find(worker.host);
    const int device = device_of(worker);
    if (host == hosts_.end() || device < 0 || !host->second.regular ||
        host->second.known < kEnoughToSeeIt)
      return -1;
    const int rank = host->second.first + device;
    return free_.contains(rank) ? rank : -1;
  }

  const std::set<int>& free() const { return free_; }

 private:
  static constexpr int kEnoughToSeeIt = 3;

  struct Host {
    int known = 0;
    int first = 0;  // the rank of its device 0
    bool regular = true;
  };

  int device_of(const Worker& worker) const {
    return worker.members.empty() ? -1 : progress_.members()[worker.members.front()].device;
  }

  const Progress& progress_;
  std::set<int> free_;
  std::map<std::string, Host> hosts_;
};

void infer_ranks(const Progress& progress, std::vector<Worker>& workers, int expected) {
  const Seats seats(progress, workers, expected);
  std::set<int> free = seats.free();
  std::vector<Worker*> unknown;
  for (Worker& worker : workers) {
    if (worker.rank >= 0) continue;
    worker.rank = seats.rank_of(worker);
    if (worker.rank < 0 || free.erase(worker.rank) == 0) {
      worker.rank = -1;
      unknown.push_back(&worker);
    }
  }
  // The last unknown worker must have the last free rank.
  if (unknown.size() == 1 && free.size() == 1 &&
      workers.size() == static_cast<std::size_t>(expected))
    unknown.front()->rank = *free.begin();
}

// Whether the ranks in this communicator are the ranks of the job.
bool is_of_all(const Communicator& world, const Members& members, const RankTies& ties) {
  if (world.nranks < ties.at_least) return false;
  int agree = 0;
  int differ = 0;
  for (const std::size_t index : world.members) {
    const auto tie = ties.rank_of_source.find(members[index].source);
    if (tie == ties.rank_of_source.end() || !members[index].init) continue;
    ++(tie->second == members[index].init->rank ? agree : differ);
  }
  return differ <= agree;
}

// Removes the ties of sources with several workers: a label there is about some lines only.
RankTies of_single_workers(const Members& members, const std::vector<std::size_t>& of,
                           const std::vector<std::size_t>& of_member, const RankTies& ties) {
  std::map<std::uint32_t, std::set<std::size_t>> in_source;
  for (const std::size_t index : of) in_source[members[index].source].insert(of_member[index]);
  RankTies single = ties;
  std::erase_if(single.rank_of_source, [&](const auto& tie) {
    const auto known = in_source.find(tie.first);
    return known != in_source.end() && known->second.size() > 1;
  });
  return single;
}

// Whether ties give the same rank to two members of a communicator. Then they count something else:
// files named "rank1-0" and "rank1-1", or processes of several jobs.
bool name_two_alike(const Members& members, const std::vector<Communicator>& communicators,
                    const std::vector<std::size_t>& of_member, const RankTies& ties) {
  for (const Communicator& communicator : communicators) {
    if (!communicator.matched) continue;
    std::map<int, std::size_t> worker_of_rank;
    for (const std::size_t index : communicator.members) {
      const auto tie = ties.rank_of_source.find(members[index].source);
      if (tie == ties.rank_of_source.end() || !members[index].init) continue;
      const std::size_t worker = of_member[index];
      if (worker_of_rank.try_emplace(tie->second, worker).first->second != worker) return true;
    }
  }
  return false;
}

// If a source has lines of only one worker, the source's rank is the worker's.
void take_ranks_of_sources(const Members& members, const RankTies& ties,
                           std::vector<Worker>& workers) {
  std::map<std::uint32_t, std::vector<Worker*>> by_source;
  for (Worker& worker : workers)
    by_source[members[worker.members.front()].source].push_back(&worker);
  for (const auto& [source, in_it] : by_source) {
    const auto tie = ties.rank_of_source.find(source);
    if (tie == ties.rank_of_source.end() || in_it.size() != 1) continue;
    if (in_it.front()->rank < 0) in_it.front()->rank = tie->second;
  }
}

}  // namespace

Workers workers_of(const Progress& progress, const std::vector<Communicator>& communicators,
                   const std::vector<std::size_t>& of) {
  return workers_of(progress, communicators, of, {});
}

Workers workers_of(const Progress& progress, const std::vector<Communicator>& communicators,
                   const std::vector<std::size_t>& of, const RankTies& all_ties) {
  const Members& members = progress.members();
  std::map<WorkerKey, std::size_t> known;
  std::map<std::tuple<std::string, std::int64_t, std::uint32_t>, std::size_t> only_one;
  Workers workers;
  std::vector<Worker> found;
  std::vector<std::size_t> of_member(members.size());

  // Members with a GPU make workers; members without one (no Init line) join a worker of their
  // process.
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

  RankTies ties = of_single_workers(members, of, of_member, all_ties);
  if (name_two_alike(members, communicators, of_member, ties)) ties.rank_of_source.clear();
  const Communicator* world = world_of(communicators);
  const bool whole = world != nullptr && is_of_all(*world, members, ties);
  if (world != nullptr) workers.expected = std::max(world->nranks, ties.at_least);
  if (whole)
    for (std::size_t index : world->members)
      if (const auto& init = members[index].init) found[of_member[index]].rank = init->rank;
  for (Worker& worker : found)
    for (std::size_t index : worker.members)
      if (worker.rank < 0) worker.rank = members[index].launcher_rank;
  if (!whole) take_ranks_of_sources(members, ties, found);
  if (whole) infer_ranks(progress, found, workers.expected);
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
  workers.all.reserve(found.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    position[order[i]] = i;
    workers.all.push_back(std::move(found[order[i]]));
    const Worker& worker = workers.all.back();
    workers.by_host[worker.host].push_back(i);
    workers.by_sender_host[worker.sender_host].push_back(i);
    workers.by_process[worker.process].push_back(i);
    workers.by_rank[worker.rank].push_back(i);
  }
  workers.of_member.resize(members.size());
  for (std::size_t index : of) workers.of_member[index] = position[of_member[index]];
  return workers;
}

const std::vector<std::size_t>& Workers::of_rank(int rank) const {
  const auto known = by_rank.find(rank);
  return known == by_rank.end() ? kNone : known->second;
}

const std::vector<std::size_t>& Workers::of_process(const ProcessKey& process) const {
  const auto known = by_process.find(process);
  return known == by_process.end() ? kNone : known->second;
}

const std::vector<std::size_t>& Workers::on(std::string_view host) const {
  if (const auto known = by_host.find(host); known != by_host.end()) return known->second;
  const auto sent = by_sender_host.find(host);
  return sent == by_sender_host.end() ? kNone : sent->second;
}

std::vector<std::size_t> Workers::perhaps_on(std::string_view host) const {
  std::vector<std::size_t> they;
  if (host.empty()) {
    for (std::size_t i = 0; i < all.size(); ++i) they.push_back(i);
    return they;
  }
  const auto nowhere = by_host.find("");
  if (nowhere == by_host.end()) return on(host);
  const auto named = by_host.find(host);
  if (named == by_host.end()) return nowhere->second;
  std::ranges::merge(nowhere->second, named->second, std::back_inserter(they));
  return they;
}

}  // namespace faultline
