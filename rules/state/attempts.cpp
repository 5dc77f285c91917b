#include "rules/state/attempts.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>

namespace faultline {
namespace {

// A process, as far as its place among the others goes.
struct Span {
  ProcessKey process;
  std::vector<std::size_t> members;
  std::set<std::string> slots;  // what only one process has at a time
  const LineRef* first = nullptr;
  const LineRef* last = nullptr;
  int nranks = 0;  // of its largest communicator
  int rank = -1;   // in it
};

// Before or after, as far as lines of one source or stamps tell.
Order order_of_lines(const LineRef& a, const LineRef& b, bool same_host) {
  if (!a.known() || !b.known()) return Order::cannot_tell;
  if (a.source == b.source) return a.line < b.line ? Order::before : Order::after;
  return order_of(a.time, b.time, same_host);
}

enum class Succession { follows, concurrent, unrelated };

// Whether `later`, which may have come after `earlier`, took over from it.
Succession succession(const Span& earlier, const Span& later) {
  bool share = std::ranges::any_of(
      later.slots, [&](const std::string& slot) { return earlier.slots.contains(slot); });
  if (!share) return Succession::unrelated;
  switch (order_of_lines(*earlier.last, *later.first, true)) {
    case Order::before:
      return Succession::follows;
    case Order::after:
      return Succession::concurrent;
    case Order::cannot_tell:
      break;
  }
  // Nothing orders their lines. Whoever plays the same part on the same GPU is its successor.
  return earlier.nranks == later.nranks && earlier.rank == later.rank ? Succession::follows
                                                                      : Succession::concurrent;
}

class Sets {
 public:
  explicit Sets(std::size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t find(std::size_t of) {
    while (parent_[of] != of) of = parent_[of] = parent_[parent_[of]];
    return of;
  }
  void join(std::size_t a, std::size_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<std::size_t> parent_;
};

std::vector<Span> spans_of(const Progress& progress) {
  std::vector<Span> spans;
  std::map<ProcessKey, std::size_t> known;
  for (std::size_t index = 0; index < progress.members().size(); ++index) {
    const Member& member = progress.members()[index];
    auto [at, is_new] = known.try_emplace(member.process, spans.size());
    if (is_new) spans.emplace_back().process = member.process;
    Span& span = spans[at->second];
    span.members.push_back(index);
    if (member.init && !member.init->gpu.empty() && !member.host.empty())
      span.slots.insert(fmt::format("{}/{}", member.host, member.init->gpu));
    else if (member.launcher_rank >= 0)
      span.slots.insert(fmt::format("rank {}", member.launcher_rank));
    const LineRef& first = member.init_line.known() ? member.init_line : member.first_line;
    const LineRef& last = member.latest_line();
    if (is_new || !span.first->known()) span.first = &first;
    // Several communicators of one process: the line that comes last in the source they share.
    if (is_new || (last.known() && (!span.last->known() || last.source != span.last->source ||
                                    last.line > span.last->line)))
      span.last = &last;
    if (member.init && member.nranks > span.nranks) {
      span.nranks = member.nranks;
      span.rank = member.init->rank;
    }
  }
  // Where no line tells who came first, it is rather the lower process id; which file was read
  // first tells nothing.
  std::ranges::sort(spans, {}, &Span::process);
  return spans;
}

// Spans that share a communicator run together.
void join_by_communicator(const Progress& progress, const std::vector<Span>& spans, Sets& sets) {
  std::map<std::pair<std::string, int>, std::size_t> by_id;
  for (std::size_t which = 0; which < spans.size(); ++which)
    for (std::size_t index : spans[which].members) {
      const auto& init = progress.members()[index].init;
      if (!init || init->communicator_id.empty()) continue;
      auto [at, is_new] = by_id.try_emplace({init->communicator_id, init->nranks}, which);
      if (!is_new) sets.join(at->second, which);
    }
}

}  // namespace

Attempts attempts_of(const Progress& progress) {
  Attempts attempts;
  const std::vector<Span> spans = spans_of(progress);
  Sets sets(spans.size());
  join_by_communicator(progress, spans, sets);

  // Who had a slot before whom.
  std::map<std::string, std::vector<std::size_t>> by_slot;
  std::map<std::size_t, std::set<std::size_t>> before;  // set -> the sets it follows
  std::vector<std::pair<std::size_t, std::size_t>> beside;
  for (std::size_t which = 0; which < spans.size(); ++which)
    for (const std::string& slot : spans[which].slots) {
      std::vector<std::size_t>& holders = by_slot[slot];
      for (std::size_t holder : holders) {
        std::size_t a = sets.find(holder);
        std::size_t b = sets.find(which);
        if (a == b) continue;
        if (order_of_lines(*spans[which].last, *spans[holder].first, true) == Order::before) {
          before[a].insert(b);
        } else if (succession(spans[holder], spans[which]) == Succession::follows) {
          before[b].insert(a);
        } else {
          beside.emplace_back(a, b);
        }
      }
      holders.push_back(which);
    }

  std::map<std::size_t, int> number;
  std::set<std::size_t> on_the_way;
  auto number_of = [&](auto&& self, std::size_t set) -> int {
    if (auto known = number.find(set); known != number.end()) return known->second;
    if (!on_the_way.insert(set).second) return 1;  // a circle: clocks that contradict each other
    int highest = 0;
    if (auto earlier = before.find(set); earlier != before.end())
      for (std::size_t other : earlier->second) highest = std::max(highest, self(self, other));
    on_the_way.erase(set);
    return number[set] = highest + 1;
  };

  for (std::size_t set = 0; set < spans.size(); ++set) number_of(number_of, sets.find(set));
  // Who ran on beside a later attempt was part of it.
  for (const auto& [a, b] : beside) {
    int& left = number[a];
    int& right = number[b];
    left = right = std::max(left, right);
  }

  attempts.of_member.assign(progress.members().size(), 1);
  for (std::size_t which = 0; which < spans.size(); ++which) {
    int attempt = number[sets.find(which)];
    attempts.count = std::max(attempts.count, attempt);
    for (std::size_t index : spans[which].members) {
      attempts.of_member[index] = attempt;
      attempts.of_process[progress.members()[index].process] = attempt;
    }
  }
  return attempts;
}

}  // namespace faultline
