#include "rules/state/communicators.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace faultline {
namespace {

using Indices = std::vector<std::size_t>;

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
  explicit Grouping(const Progress& progress) : progress_(progress) {}

  std::vector<Communicator> run() {
    for (std::size_t index = 0; index < progress_.members().size(); ++index) {
      std::string key = key_of(index);
      keys_.push_back(key);
      auto [known, is_new] = groups_.try_emplace(std::move(key));
      if (is_new) order_.push_back(known->first);
      known->second.push_back(index);
    }
    for (const std::string& key : order_) split(key, groups_[key]);
    return std::move(found_);
  }

 private:
  // Members with the same key may be of one communicator.
  std::string key_of(std::size_t index) {
    const Member& member = progress_.members()[index];
    if (!member.init) return fmt::format("assumed {} {}", member.nranks, ordinal(index));
    const CommunicatorInit& init = *member.init;
    if (!init.communicator_id.empty())
      return fmt::format("id {} {}", init.communicator_id, init.nranks);
    if (init.parent) {
      int child = init.child.value_or(ordinal(index));
      return fmt::format("child of [{}] {} {} {}", parent_key(member, *init.parent), child,
                         init.color.value_or(0), init.nranks);
    }
    return fmt::format("unnamed {} {}", init.nranks, ordinal(index));
  }

  // How many like it the same process had made before. Ranks create their communicators in the same
  // order, so equal ordinals go together.
  int ordinal(std::size_t index) {
    const Member& member = progress_.members()[index];
    const auto& init = member.init;
    return made_[std::make_tuple(member.host, member.pid, member.pid == 0 ? member.source : 0U,
                                 init ? init->gpu : std::string(), member.nranks, init.has_value(),
                                 init && init->parent ? *init->parent : 0)]++;
  }

  std::string parent_key(const Member& child, std::uint64_t pointer) const {
    for (std::size_t index = keys_.size(); index-- > 0;) {
      const Member& member = progress_.members()[index];
      if (member.pointer == pointer && member.pid == child.pid && member.host == child.host)
        return keys_[index];
    }
    return "unknown";
  }

  void split(const std::string& key, const Indices& members) {
    bool assumed = key.starts_with("assumed ");
    const Member& first = progress_.members()[members.front()];
    auto nranks = static_cast<std::size_t>(first.nranks);
    if (first.init && !first.init->communicator_id.empty())
      return split_repeated(first.init->communicator_id, members);
    std::string name = fmt::format("{}-ranks-{}", nranks, ++unnamed_);
    if (members.size() <= nranks && ranks_are_distinct(progress_, members))
      return keep(name, members, !assumed);
    // One communicator per host, as tensor parallelism makes them, looks like this.
    std::map<std::string, Indices> by_host;
    for (std::size_t index : members) by_host[progress_.members()[index].host].push_back(index);
    for (const auto& [host, of_host] : by_host) {
      bool fits = of_host.size() <= nranks && ranks_are_distinct(progress_, of_host);
      // Whole on one host, it must be this host's. In part, it might be anybody's.
      if (fits && of_host.size() == nranks)
        keep(fmt::format("{}-{}", name, host), of_host, !assumed);
    }
  }

  // Splits of one parent with one color share a commId (2.18 to 2.22): the second time a rank shows
  // up it is the second communicator.
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
    found_.push_back({id, nranks, matched, std::move(members)});
  }

  int rank_of(std::size_t index) const {
    const Member& member = progress_.members()[index];
    return member.init ? member.init->rank : -1;
  }

  const Progress& progress_;
  std::vector<std::string> keys_;
  std::map<std::string, Indices> groups_;
  std::vector<std::string> order_;
  std::map<
      std::tuple<std::string, std::int64_t, std::uint32_t, std::string, int, bool, std::uint64_t>,
      int>
      made_;
  std::vector<Communicator> found_;
  int unnamed_ = 0;
};

}  // namespace

std::vector<Communicator> communicators_of(const Progress& progress) {
  return Grouping(progress).run();
}

}  // namespace faultline
