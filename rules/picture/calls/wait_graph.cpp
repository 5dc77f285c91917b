#include "rules/picture/calls/wait_graph.h"

#include <algorithm>

namespace faultline {
namespace {

// An edge leads from the waiting rank to the awaited one. A collective is a node between the ranks
// that wait in it and those that have not entered it.
using Graph = std::vector<std::vector<std::size_t>>;

void add_collectives(const View& view, Graph& graph, std::vector<bool>& behind) {
  for (const Alignment& alignment : view.alignments) {
    if (!view.stands(alignment)) continue;
    const std::size_t node = graph.size();
    graph.emplace_back();
    const std::set<std::size_t> late(alignment.behind.begin(), alignment.behind.end());
    for (std::size_t member : alignment.members) {
      const std::size_t worker = view.workers.of_member[member];
      if (late.contains(member)) {
        graph[node].push_back(worker);
        behind[worker] = true;
      } else {
        graph[worker].push_back(node);
      }
    }
  }
}

Graph reversed(const Graph& graph) {
  Graph back(graph.size());
  for (std::size_t from = 0; from < graph.size(); ++from)
    for (std::size_t to : graph[from]) back[to].push_back(from);
  return back;
}

// Nodes in the order in which a depth-first walk leaves them.
std::vector<std::size_t> order_of_leaving(const Graph& graph) {
  std::vector<std::size_t> order;
  std::vector<bool> seen(graph.size());
  struct Step {
    std::size_t node;
    std::size_t next;  // of its edges
  };
  for (std::size_t start = 0; start < graph.size(); ++start) {
    if (seen[start]) continue;
    seen[start] = true;
    std::vector<Step> path = {{start, 0}};
    while (!path.empty()) {
      Step& step = path.back();
      if (step.next == graph[step.node].size()) {
        order.push_back(step.node);
        path.pop_back();
        continue;
      }
      const std::size_t to = graph[step.node][step.next++];
      if (!seen[to]) {
        seen[to] = true;
        path.push_back({to, 0});
      }
    }
  }
  return order;
}

// Gives nodes that can all reach each other the same number (Kosaraju's algorithm).
std::vector<std::size_t> circles_of(const Graph& graph, std::size_t& count) {
  const Graph back = reversed(graph);
  std::vector<std::size_t> order = order_of_leaving(graph);
  std::vector<std::size_t> circle(graph.size(), kNobody);
  count = 0;
  for (auto start = order.rbegin(); start != order.rend(); ++start) {
    if (circle[*start] != kNobody) continue;
    std::vector<std::size_t> todo = {*start};
    circle[*start] = count;
    while (!todo.empty()) {
      const std::size_t node = todo.back();
      todo.pop_back();
      for (std::size_t from : back[node]) {
        if (circle[from] != kNobody) continue;
        circle[from] = count;
        todo.push_back(from);
      }
    }
    ++count;
  }
  return circle;
}

}  // namespace

std::vector<WaitEnd> ends_of_waits(const View& view, const std::vector<P2pGap>& gaps) {
  const std::size_t workers = view.workers.all.size();
  Graph graph(workers);
  std::vector<bool> behind(workers);
  for (const P2pGap& gap : gaps) {
    const std::size_t from = view.workers.of_member[gap.waiting];
    const std::size_t to = view.workers.of_member[gap.owing];
    if (gap.passed == P2pGap::Passed::no && from != to) graph[from].push_back(to);
  }
  add_collectives(view, graph, behind);

  std::size_t count = 0;
  const std::vector<std::size_t> circle = circles_of(graph, count);
  std::vector<bool> leads_out(count);
  std::vector<bool> waited_for(count);
  for (std::size_t from = 0; from < graph.size(); ++from) {
    for (std::size_t to : graph[from]) {
      if (circle[from] != circle[to]) leads_out[circle[from]] = true;
      waited_for[circle[to]] = true;
    }
  }
  std::vector<WaitEnd> by_circle(count);
  for (std::size_t worker = 0; worker < workers; ++worker) {
    by_circle[circle[worker]].workers.insert(worker);
    if (behind[worker]) by_circle[circle[worker]].behind = true;
  }
  std::vector<WaitEnd> ends;
  for (std::size_t which = 0; which < count; ++which) {
    WaitEnd& end = by_circle[which];
    if (leads_out[which] || !waited_for[which] || end.workers.empty()) continue;
    if (end.workers.size() > 1) end.behind = false;
    ends.push_back(std::move(end));
  }
  return ends;
}

}  // namespace faultline
