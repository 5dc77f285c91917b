#include "rules/state/attempts.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace faultline {
namespace {

// What orders a process among the others.
struct Span {
  ProcessKey process;
  std::vector<std::size_t> members;
  std::set<std::string> slots;  // GPUs and ranks that only one process has at a time
  const LineRef* first = nullptr;
  const LineRef* last = nullptr;
  int nranks = 0;  // size of its largest communicator
  int rank = -1;   // its rank there
};

// By the position in one source, else by stamps.
Order order_of_lines(const LineRef& a, const LineRef& b, bool same_host) {
  if (!a.known() || !b.known()) return Order::cannot_tell;
  if (a.source == b.source) return a.line < b.line ? Order::before : Order::after;
  return order_of(a.time, b.time, same_host);
}

// Whether `later` took over from `earlier`, which had the same slot.
bool follows(const Span& earlier, const Span& later) {
  const Order order = order_of_lines(*earlier.last, *later.first, true);
  if (order != Order::cannot_tell) return order == Order::before;
  // Their lines cannot be ordered. Then a process with the same rank on the same GPU is a
  // successor.
  return earlier.nranks == later.nranks && earlier.rank == later.rank;
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
    // Over all communicators of the process: the line that comes last in the source that they
    // share.
    if (is_new || (last.known() && (!span.last->known() || last.source != span.last->source ||
                                    last.line > span.last->line)))
      span.last = &last;
    if (member.init && member.nranks > span.nranks) {
      span.nranks = member.nranks;
      span.rank = member.init->rank;
    }
  }
  // If no line shows which process came first, it is likely the one with the lower id. The order in
  // which files were read means nothing.
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

// The spans that had each slot, in the order in which they began.
class Slots {
 public:
  explicit Slots(const std::vector<Span>& spans) : spans_(spans) {
    for (std::size_t which = 0; which < spans.size(); ++which)
      for (const std::string& slot : spans[which].slots) holders_[slot].push_back(which);
    for (auto& [slot, holders] : holders_)
      std::ranges::sort(holders, {}, [&](std::size_t which) { return came(which); });
  }

  // The spans with lower indices that had the slot shortly before or after. They are enough to
  // order all.
  std::vector<std::size_t> near(const std::string& slot, std::size_t which) const {
    constexpr std::size_t kNear = 32;
    const std::vector<std::size_t>& holders = holders_.at(slot);
    const auto at = static_cast<std::size_t>(
        std::ranges::lower_bound(holders, came(which), {},
                                 [&](std::size_t other) { return came(other); }) -
        holders.begin());
    std::vector<std::size_t> near;
    const std::size_t end = std::min(at + kNear + 1, holders.size());
    for (std::size_t i = at - std::min(at, kNear); i < end; ++i)
      if (holders[i] < which) near.push_back(holders[i]);
    std::ranges::sort(near);
    return near;
  }

 private:
  std::tuple<std::int64_t, std::uint64_t, std::size_t> came(std::size_t which) const {
    const LineRef& first = *spans_[which].first;
    return {first.time.wall_us.value_or(0), first.line, which};
  }

  const std::vector<Span>& spans_;
  std::map<std::string, std::vector<std::size_t>> holders_;
};

// The length of the longest chain of sets that ends in each set. `before`: by set, the sets that it
// follows.
class Numbers {
 public:
  explicit Numbers(const std::vector<std::vector<std::size_t>>& before)
      : before_(before), number_(before.size(), kUnknown) {}

  int& operator[](std::size_t set) { return number_[set]; }

  // Without recursion, because a chain may be longer than the stack allows.
  void count(std::size_t last) {
    if (number_[last] != kUnknown) return;
    std::vector<Step> way{{last}};
    number_[last] = kOnTheWay;
    while (!way.empty()) {
      Step& step = way.back();
      if (step.asked == before_[step.set].size()) {
        number_[step.set] = step.highest + 1;
        way.pop_back();
        continue;
      }
      const std::size_t earlier = before_[step.set][step.asked];
      if (number_[earlier] == kUnknown) {
        number_[earlier] = kOnTheWay;
        way.push_back({earlier});
        continue;
      }
      ++step.asked;
      // A circle comes from clocks that contradict each other.
      step.highest = std::max(step.highest, number_[earlier] == kOnTheWay ? 1 : number_[earlier]);
    }
  }

  static constexpr int kUnknown = 0;
  static constexpr int kOnTheWay = -1;

  struct Step {
    std::size_t set = 0;
    std::size_t asked = 0;  // how many of the sets before it were visited
    int highest = 0;
  };

  const std::vector<std::vector<std::size_t>>& before_;
  std::vector<int> number_;
};

}  // namespace

Attempts attempts_of(const Progress& progress) {
  Attempts attempts;
  const std::vector<Span> spans = spans_of(progress);
  Sets sets(spans.size());
  join_by_communicator(progress, spans, sets);

  std::vector<std::vector<std::size_t>> before(spans.size());  // by set: the sets that it follows
  std::vector<std::pair<std::size_t, std::size_t>> beside;
  const Slots slots(spans);
  for (std::size_t which = 0; which < spans.size(); ++which)
    for (const std::string& slot : spans[which].slots)
      for (const std::size_t holder : slots.near(slot, which)) {
        const std::size_t a = sets.find(holder);
        const std::size_t b = sets.find(which);
        if (a == b) continue;
        if (order_of_lines(*spans[which].last, *spans[holder].first, true) == Order::before)
          before[a].push_back(b);
        else if (follows(spans[holder], spans[which]))
          before[b].push_back(a);
        else
          beside.emplace_back(a, b);
      }
  for (std::vector<std::size_t>& earlier : before) std::ranges::sort(earlier);
  Numbers number(before);
  for (std::size_t set = 0; set < spans.size(); ++set) number.count(sets.find(set));

  // A set that ran beside a set of a later attempt belongs to that attempt.
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
