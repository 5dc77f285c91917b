#include "rules/picture/calls/flight_circle.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "rules/picture/calls/flight_steps.h"
#include "rules/picture/calls/flight_waits.h"

namespace faultline {
namespace {

constexpr std::uint32_t kLookAhead = 8;       // calls of an earlier step that are compared
constexpr std::size_t kMostInACircle = 1024;  // in a larger one, the order of calls is not checked

// An edge leads from the waiting rank to the awaited one. A collective is a node between the ranks
// that wait in it and those that have not called it.
using Graph = std::vector<std::vector<std::size_t>>;

// The nodes with a path into a circle: what is left after dead ends are removed, again and again.
std::vector<bool> lead_into_circles(const Graph& graph) {
  Graph back(graph.size());
  std::vector<std::size_t> leads(graph.size());
  std::deque<std::size_t> nowhere;
  for (std::size_t from = 0; from < graph.size(); ++from) {
    leads[from] = graph[from].size();
    if (leads[from] == 0) nowhere.push_back(from);
    for (const std::size_t to : graph[from]) back[to].push_back(from);
  }
  std::vector<bool> left(graph.size(), true);
  for (; !nowhere.empty(); nowhere.pop_front()) {
    left[nowhere.front()] = false;
    for (const std::size_t from : back[nowhere.front()])
      if (--leads[from] == 0) nowhere.push_back(from);
  }
  return left;
}

// The shortest circle through this node.
std::vector<std::size_t> circle_through(const Graph& graph, std::size_t start) {
  std::vector<std::size_t> before(graph.size(), SIZE_MAX);
  for (std::deque<std::size_t> todo = {start}; !todo.empty(); todo.pop_front())
    for (const std::size_t to : graph[todo.front()]) {
      if (before[to] != SIZE_MAX) continue;
      before[to] = todo.front();
      if (to != start) {
        todo.push_back(to);
        continue;
      }
      std::vector<std::size_t> circle = {start};
      for (std::size_t node = before[start]; node != start; node = before[node])
        circle.push_back(node);
      std::reverse(circle.begin() + 1, circle.end());
      return circle;
    }
  return {};
}

std::vector<std::size_t> circle_in(const Graph& graph) {
  const std::vector<bool> left = lead_into_circles(graph);
  const auto first = std::ranges::find(left, true);
  if (first == left.end()) return {};
  std::set<std::size_t> seen;
  auto node = static_cast<std::size_t>(first - left.begin());
  while (seen.insert(node).second)
    node = *std::ranges::find_if(graph[node], [&](std::size_t to) { return left[to]; });
  return circle_through(graph, node);
}

class Circles {
 public:
  Circles(const Flight& flight, const std::map<int, std::size_t>& dump_of_rank,
          const FlightAlignment& alignment)
      : flight_(flight), dump_of_rank_(dump_of_rank), alignment_(alignment) {}

  FlightCircle find() {
    for (const auto& [rank, front] : alignment_.fronts) {
      node_of_.emplace(rank, ranks_.size());
      ranks_.push_back(rank);
    }
    graph_.resize(ranks_.size());
    for (const FlightStall& stall : alignment_.stalls) add(stall);
    for (const auto& [rank, front] : alignment_.fronts)
      if (!front.collective) add_halves(rank, front);
    FlightCircle circle;
    for (const std::size_t node : circle_in(graph_))
      if (node < ranks_.size()) circle.waits.push_back({.rank = ranks_[node]});
    for (std::size_t i = 0; i < circle.waits.size(); ++i) {
      FlightCircle::Wait& wait = circle.waits[i];
      wait.next = circle.waits[(i + 1) % circle.waits.size()].rank;
      wait.front = alignment_.fronts.at(wait.rank);
      wait.entry = entry_of(wait.front);
    }
    find_strayed(circle);
    return circle;
  }

 private:
  const FlightPosition& position_of(const FlightFront& front) const {
    return *flight_.dumps()[front.dump].position(front.group);
  }

  FlightEntry entry_of(const FlightFront& front) const {
    return position_of(front).entries[front.entry];
  }

  // A group without a name may not be the same one on all ranks.
  bool is_named(std::uint32_t group) const {
    const FlightGroup& about = flight_.groups()[group];
    return !about.name.empty() || about.local_id <= 0;
  }

  void add(const FlightStall& stall) {
    if (!is_named(stall.group)) return;
    const std::size_t node = graph_.size();
    graph_.emplace_back();
    for (const int rank : stall.with(FlightStanding::not_entered))
      if (const auto known = node_of_.find(rank); known != node_of_.end())
        graph_[node].push_back(known->second);
    for (const FlightStall::Rank& rank : stall.ranks) {
      const auto front = alignment_.fronts.find(rank.rank);
      // A rank that has not called this collective has not called a later one either.
      if (front != alignment_.fronts.end() && front->second.group == stall.group &&
          front->second.collective && *front->second.collective >= stall.sequence)
        graph_[node_of_.at(rank.rank)].push_back(node);
    }
  }

  using Direction = std::pair<int, bool>;  // peer, sends

  std::optional<Direction> direction(std::uint32_t group, const FlightEntry& entry) const {
    if (!entry.point_to_point) return std::nullopt;
    const auto call = peer_call(flight_.signature(entry.signature).operation);
    const std::vector<int>& members = flight_.groups()[group].members;
    if (!call || call->peer >= members.size()) return std::nullopt;
    return Direction{members[call->peer], call->sends};
  }

  // Whether the dump still has every call that its process made in the group.
  bool is_whole(const FlightDump& dump, const FlightPosition& position) const {
    return position.forgotten == 0 && !dump.about.broken_off && dump.has_first_call;
  }

  // How many Sends to, or Recvs from, a peer the rank called, if known.
  std::optional<std::size_t> called(int rank, std::uint32_t group, const Direction& which) {
    const auto known = dump_of_rank_.find(rank);
    if (known == dump_of_rank_.end()) return std::nullopt;
    const FlightDump& dump = flight_.dumps()[known->second];
    const FlightPosition* position = dump.position(group);
    if (position == nullptr || !is_whole(dump, *position)) return std::nullopt;
    const auto [counts, is_new] = called_.try_emplace({rank, group});
    if (is_new)
      for (const FlightEntry& entry : position->entries)
        if (const auto its = direction(group, entry)) ++counts->second[*its];
    return counts->second[which];
  }

  // Adds edges to peers that have not called the other half of the rank's call: peers that called
  // fewer halves.
  void add_halves(int rank, const FlightFront& front) {
    if (!is_named(front.group)) return;
    const std::vector<FlightEntry>& entries = position_of(front).entries;
    const FlightEntry& first = entries[front.entry];
    std::map<Direction, std::size_t> mine;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const bool in_its_batch = first.role == FlightRole::batched &&
                                entries[i].role == FlightRole::batched &&
                                entries[i].sequence == first.sequence;
      if (i > front.entry && !in_its_batch) break;
      const auto which = direction(front.group, entries[i]);
      if (!which) continue;
      ++mine[*which];
      if (i < front.entry) continue;
      const auto& [peer, sends] = *which;
      const auto theirs = called(peer, front.group, {rank, !sends});
      if (!theirs || !called(rank, front.group, *which) || *theirs >= mine[*which]) continue;
      if (const auto known = node_of_.find(peer); known != node_of_.end())
        graph_[node_of_.at(rank)].push_back(known->second);
    }
  }

  // Whether the call is the one for which the peer waits.
  bool is_missing_call(const FlightCircle::Wait& waits, std::uint32_t group,
                       const FlightEntry& entry) const {
    if (group != waits.front.group) return false;
    if (waits.front.collective)
      return !entry.point_to_point && flight_.signature(entry.signature).operation ==
                                          flight_.signature(waits.entry.signature).operation;
    const auto its = direction(group, waits.entry);
    const auto here = direction(group, entry);
    return its && here && here->first == waits.rank && here->second != its->second;
  }

  struct Made {
    std::uint32_t group = 0;
    FlightEntry entry;
  };

  // All calls of a process, in the order in which it made them.
  std::vector<Made> made_by(const FlightDump& dump) const {
    std::vector<Made> made;
    for (const FlightPosition& position : dump.positions)
      for (const FlightEntry& entry : position.entries)
        if (entry.role != FlightRole::batch_end) made.push_back({position.group, entry});
    std::ranges::stable_sort(made, {}, [](const Made& call) { return call.entry.record; });
    return made;
  }

  // Whether, at this place in its earlier steps, the rank first made the call for which its peer
  // waits, and then the call in which it now waits.
  bool strayed(const FlightCircle::Wait& peers, const FlightCircle::Wait& its) const {
    const std::vector<Made> made = made_by(flight_.dumps()[its.front.dump]);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> symbols;
    std::vector<const Made*> kinds;
    Calls calls;
    std::uint32_t here = 0;
    for (std::uint32_t i = 0; i < made.size(); ++i) {
      const auto [known, is_new] = symbols.try_emplace({made[i].group, made[i].entry.signature},
                                                       static_cast<std::uint32_t>(kinds.size()));
      if (is_new) kinds.push_back(&made[i]);
      if (made[i].group == its.front.group && made[i].entry.record == its.front.record)
        here = i + 1;
      if (here == 0) calls[i + 1] = known->second;
    }
    if (here < 2) return false;
    const std::uint32_t stands_in = symbols.at({its.front.group, its.entry.signature});
    const Calls as_before = as_in_steps_before(std::move(calls), here - 1);
    bool missing_came = false;
    for (std::uint32_t i = 0; i < kLookAhead; ++i) {
      const auto call = as_before.find(here + i);
      if (call == as_before.end()) return false;
      if (call->second == stands_in) return missing_came;
      const Made& kind = *kinds[call->second];
      missing_came = missing_came || is_missing_call(peers, kind.group, kind.entry);
    }
    return false;
  }

  void find_strayed(FlightCircle& circle) const {
    const std::size_t count = circle.waits.size();
    if (count > kMostInACircle) return;
    for (std::size_t i = 0; i < count; ++i)
      if (strayed(circle.waits[(i + count - 1) % count], circle.waits[i]))
        circle.strayed.push_back(circle.waits[i].rank);
    std::ranges::sort(circle.strayed);
    // If all of them did, they all took another branch of the program.
    if (circle.strayed.size() == count) circle.strayed.clear();
  }

  const Flight& flight_;
  const std::map<int, std::size_t>& dump_of_rank_;
  const FlightAlignment& alignment_;
  std::vector<int> ranks_;  // ranks that wait; the first nodes
  std::map<int, std::size_t> node_of_;
  Graph graph_;
  std::map<std::pair<int, std::uint32_t>, std::map<Direction, std::size_t>> called_;
};

}  // namespace

void find_circle(const Flight& flight, const std::map<int, std::size_t>& dump_of_rank,
                 FlightAlignment& alignment) {
  alignment.circle = Circles(flight, dump_of_rank, alignment).find();
}

}  // namespace faultline
