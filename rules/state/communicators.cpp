#include "rules/state/communicators.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "rules/state/incomplete_communicators.h"

namespace faultline {
namespace {

using Indices = std::vector<std::size_t>;

constexpr std::string_view kStranger = "assumed ";

// No two members may be the same rank of one communicator.
bool ranks_are_distinct(const Progress& progress, const Indices& members) {
  std::set<int> ranks;
  for (std::size_t index : members) {
    const auto& init = progress.members()[index].init;
    if (init && !ranks.insert(init->rank).second) return false;
  }
  return true;
}

class Grouping {
 public:
  explicit Grouping(const Progress& progress)
      : progress_(progress), incomplete_(progress.members()) {}

  std::vector<Communicator> run(const Indices& members) {
    const bool asks_for_parents =
        std::ranges::any_of(members, [&](std::size_t index) { return is_unnamed_child(index); });
    for (std::size_t index : members) {
      std::string key = key_of(index);
      const Member& member = progress_.members()[index];
      if (asks_for_parents)
        parents_[{member.process, member.pointer}] =
            numbers_.try_emplace(key, numbers_.size()).first->second;
      auto [known, is_new] = groups_.try_emplace(std::move(key));
      if (is_new) order_.push_back(known->first);
      known->second.push_back(index);
    }
    // Groups with an id first. Members without an Init line last: they may complete other
    // communicators.
    std::ranges::stable_partition(order_,
                                  [](const std::string& key) { return key.starts_with("id "); });
    const auto strangers = std::ranges::stable_partition(
        order_, [](const std::string& key) { return !key.starts_with(kStranger); });
    for (const std::string& key : strangers)
      for (std::size_t index : groups_[key])
        strangers_[progress_.members()[index].nranks].push_back(index);
    for (const std::string& key : order_)
      if (!key.starts_with(kStranger)) split(groups_[key]);
    for (const std::string& key : strangers) split_strangers(groups_[key]);
    return std::move(found_);
  }

 private:
  bool is_unnamed_child(std::size_t index) const {
    const auto& init = progress_.members()[index].init;
    return init && init->communicator_id.empty() && init->parent;
  }

  // Members with the same key may belong to one communicator.
  std::string key_of(std::size_t index) {
    const Member& member = progress_.members()[index];
    if (!member.init) return fmt::format("{}{} {}", kStranger, member.nranks, ordinal(index));
    const CommunicatorInit& init = *member.init;
    if (!init.communicator_id.empty())
      return fmt::format("id {} {}", init.communicator_id, init.nranks);
    if (init.parent) {
      int child = init.child.value_or(ordinal(index));
      return fmt::format("child of [{}] {} {} {}", parent_of(member, *init.parent), child,
                         init.color.value_or(0), init.nranks);
    }
    return fmt::format("unnamed {} {}", init.nranks, ordinal(index));
  }

  // How many similar communicators the process had made before. Ranks create communicators in the
  // same order, so equal ordinals belong together.
  int ordinal(std::size_t index) {
    const Member& member = progress_.members()[index];
    const auto& init = member.init;
    return made_[std::make_tuple(member.host, member.pid, member.pid == 0 ? member.source : 0U,
                                 init ? init->gpu : std::string(), member.nranks, init.has_value(),
                                 init && init->parent ? *init->parent : 0)]++;
  }

  // Pointers are reused, so the latest communicator with this pointer counts. Its key goes by a
  // number: children of children would have longer and longer keys.
  std::string parent_of(const Member& child, std::uint64_t pointer) const {
    const auto known = parents_.find({child.process, pointer});
    return known == parents_.end() ? "unknown" : std::to_string(known->second);
  }

  void split(const Indices& members) {
    const Member& first = progress_.members()[members.front()];
    auto nranks = static_cast<std::size_t>(first.nranks);
    if (first.init && !first.init->communicator_id.empty())
      return split_repeated(first.init->communicator_id, members);
    if (completes_another(members)) return;
    const std::string name = next_name(nranks);
    if (members.size() <= nranks && ranks_are_distinct(progress_, members))
      return keep(name, members, true);
    // If some of its ranks have no Init line, a grid would come out wrong.
    if (!splits_by_host(members) && !strangers_.contains(first.nranks) &&
        split_regularly(name, members))
      return;
    keep_whole_hosts(name, members, true);
  }

  // Members whose Init lines were not seen.
  void split_strangers(const Indices& members) {
    const int nranks = progress_.members()[members.front()].nranks;
    if (const auto known = of_size_.find(nranks); known != of_size_.end()) {
      // Other members of this size have Init lines, so only lines were lost: these members complete
      // those communicators.
      FreeSeats& seats =
          free_seats_.try_emplace(nranks, progress_.members(), found_, known->second).first->second;
      for (std::size_t index : members) seats.seat(index);
      return;
    }
    const std::string name = next_name(static_cast<std::size_t>(nranks));
    if (members.size() <= static_cast<std::size_t>(nranks)) return keep(name, members, false);
    keep_whole_hosts(name, members, false);
  }

  std::string next_name(std::size_t nranks) {
    return fmt::format("{}-ranks-{}", nranks, ++unnamed_);
  }

  std::map<std::string, Indices> by_host(const Indices& members) const {
    std::map<std::string, Indices> hosts;
    for (std::size_t index : members) hosts[progress_.members()[index].host].push_back(index);
    return hosts;
  }

  // If all its ranks are on one host, it is this host's communicator. If not, it may be any.
  bool is_whole(const Indices& members) const {
    return members.size() ==
               static_cast<std::size_t>(progress_.members()[members.front()].nranks) &&
           ranks_are_distinct(progress_, members);
  }

  // One communicator per host, as in tensor parallelism.
  bool splits_by_host(const Indices& members) const {
    return std::ranges::all_of(by_host(members),
                               [&](const auto& of_host) { return is_whole(of_host.second); });
  }

  void keep_whole_hosts(const std::string& name, const Indices& members, bool matched) {
    for (const auto& [host, of_host] : by_host(members))
      if (is_whole(of_host)) keep(fmt::format("{}-{}", name, host), of_host, matched);
  }

  // If hosts run different versions of NCCL, some print the id and some do not; together they are
  // one communicator. All ranks create it by the same call.
  bool completes_another(const Indices& members) {
    const std::optional<std::size_t> other = incomplete_.take(members);
    if (!other) return false;
    Indices& all = found_[*other].members;
    all.insert(all.end(), members.begin(), members.end());
    std::ranges::stable_sort(all, {}, [&](std::size_t index) { return rank_of(index); });
    return true;
  }

  // Ranks in a grid, as frameworks lay them out: the k-th process that is rank 0, the k-th that is
  // rank 1 and so on form a communicator. A guess: only the order suggests it.
  bool split_regularly(const std::string& name, const Indices& members) {
    std::map<int, Indices> by_rank;
    for (std::size_t index : members) by_rank[rank_of(index)].push_back(index);
    const auto nranks = static_cast<std::size_t>(progress_.members()[members.front()].nranks);
    const std::size_t groups = by_rank.begin()->second.size();
    const bool complete = by_rank.size() == nranks && std::ranges::all_of(by_rank, [&](auto& rank) {
                            return rank.second.size() == groups;
                          });
    if (!complete) return false;
    for (auto& [rank, of_rank] : by_rank)
      std::ranges::stable_sort(of_rank, {}, [&](std::size_t index) { return seat_of(index); });
    for (std::size_t group = 0; group < groups; ++group) {
      Indices together;
      for (const auto& [rank, of_rank] : by_rank) together.push_back(of_rank[group]);
      keep(fmt::format("{}.{}", name, group + 1), together, false);
    }
    return true;
  }

  // A process's place among all: its rank in the largest communicator so far; else where it runs.
  std::tuple<int, std::string, std::string> seat_of(std::size_t index) const {
    const Member& member = progress_.members()[index];
    auto world = world_ranks_.find(member.process);
    return {world == world_ranks_.end() ? -1 : world->second.second, member.host,
            member.init ? member.init->gpu : std::string()};
  }

  // Splits of one parent with one color share a commId (2.18 to 2.22), so the second time a rank
  // appears, it is the second communicator.
  void split_repeated(const std::string& id, const Indices& members) {
    std::vector<Indices> rounds;
    std::map<int, std::size_t> seen;
    for (std::size_t index : members) {
      std::size_t round = seen[rank_of(index)]++;
      if (round >= rounds.size()) rounds.emplace_back();
      rounds[round].push_back(index);
    }
    for (std::size_t round = 0; round < rounds.size(); ++round)
      keep(round == 0 ? id : fmt::format("{}#{}", id, round + 1), rounds[round], true);
  }

  void keep(const std::string& id, Indices members, bool matched) {
    std::stable_sort(members.begin(), members.end(),
                     [&](std::size_t a, std::size_t b) { return rank_of(a) < rank_of(b); });
    int nranks = progress_.members()[members.front()].nranks;
    if (matched)
      for (std::size_t index : members) {
        auto& [size, rank] = world_ranks_[progress_.members()[index].process];
        if (nranks > size) std::tie(size, rank) = std::pair(nranks, rank_of(index));
      }
    of_size_[nranks].push_back(found_.size());
    if (members.size() < static_cast<std::size_t>(nranks)) incomplete_.add(found_.size(), members);
    found_.push_back({id, nranks, matched, std::move(members)});
  }

  int rank_of(std::size_t index) const {
    const Member& member = progress_.members()[index];
    return member.init ? member.init->rank : -1;
  }

  const Progress& progress_;
  std::map<std::pair<ProcessKey, std::uint64_t>, std::size_t> parents_;  // numbers of their keys
  std::map<std::string, std::size_t> numbers_;                           // by key
  // size of the largest communicator, rank in it
  std::map<ProcessKey, std::pair<int, int>> world_ranks_;
  std::map<std::string, Indices> groups_;
  // members without an Init line, by the size of their communicator
  std::map<int, Indices> strangers_;
  std::vector<std::string> order_;
  std::map<
      std::tuple<std::string, std::int64_t, std::uint32_t, std::string, int, bool, std::uint64_t>,
      int>
      made_;
  std::vector<Communicator> found_;
  std::map<int, Indices> of_size_;       // indices into found_, by size
  std::map<int, FreeSeats> free_seats_;  // by size
  Incomplete incomplete_;
  int unnamed_ = 0;
};

}  // namespace

std::vector<Communicator> communicators_of(const Progress& progress,
                                           const std::vector<std::size_t>& members) {
  return Grouping(progress).run(members);
}

}  // namespace faultline
