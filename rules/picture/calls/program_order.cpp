#include "rules/picture/calls/program_order.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "rules/picture/calls/axis.h"
#include "rules/picture/calls/common_sequence.h"

namespace faultline {
namespace {

// Bounds of the work: calls of a worker that are examined, and workers whose calls make up the
// program. More would not improve the result.
constexpr std::size_t kMostCalls = 256;
constexpr std::size_t kMostAuthors = 48;
constexpr std::size_t kFewestWorkers = 3;

// A worker of whose log the program explains a smaller share runs another program.
constexpr double kRunsIt = 7.0 / 10;
// share of the workers; below it there is no common program
constexpr double kFewestRunIt = 3.0 / 5;

// If more lines are missing, the order of calls alone fits in too many ways.
constexpr double kMostLossForOrder = 1.0 / 10;

constexpr double kLeastLoss = 1.0 / 100;
constexpr double kMostLoss = 3.0 / 5;
// The likelihood of a call that does not fit the program.
constexpr double kStray = 1e-4;
// If a kind of call comes this often in the program and never in a worker's log, the worker does
// not make it.
constexpr std::size_t kOftenEnough = 5;

struct Kind {
  int nranks = 0;
  std::uint32_t symbol = 0;
  auto operator<=>(const Kind&) const = default;
};

// size of the communicator; how many of this size the worker had before
using Role = std::pair<int, std::size_t>;

struct LoggedCall {
  std::uint64_t line = 0;
  Kind kind;
  std::uint64_t op_count = SequenceCall::kNoOpCount;
};

// The members of each role, across all workers.
std::map<Role, std::vector<std::size_t>> roles_of(const View& view) {
  std::map<Role, std::vector<std::size_t>> roles;
  for (const Worker& worker : view.workers.all) {
    std::map<int, std::size_t> before;
    for (std::size_t index : worker.members)
      if (!view.member(index).recent.empty()) {
        const int nranks = view.member(index).nranks;
        roles[{nranks, before[nranks]++}].push_back(index);
      }
  }
  return roles;
}

// Members whose op counts are the same at the same calls on all workers.
std::set<std::size_t> members_counting_alike(const View& view) {
  std::set<std::size_t> alike;
  for (const auto& [role, members] : roles_of(view)) {
    std::vector<Tail> tails;
    for (std::size_t index : members) {
      const Member& member = view.member(index);
      tails.push_back({.recent = &member.recent,
                       .from_start = member.from_start,
                       .calls = member.calls,
                       .first_op_count = member.first_op_count.value_or(0),
                       .last_op_count = member.last_op_count});
    }
    if (axis_by_op_count(tails)) alike.insert(members.begin(), members.end());
  }
  return alike;
}

// The worker's last calls on all its communicators, from the line on from which all are known.
std::vector<LoggedCall> calls_of(const View& view, const Worker& worker,
                                 const std::set<std::size_t>& counting_alike) {
  std::vector<LoggedCall> calls;
  std::uint64_t known_from = 0;
  std::optional<std::uint32_t> source;
  for (std::size_t index : worker.members) {
    const Member& member = view.member(index);
    if (member.recent.empty()) continue;
    // Line numbers of different files give no order.
    if (source.value_or(member.calls_source) != member.calls_source) return {};
    source = member.calls_source;
    if (member.recent.size() == RecentCalls::kMost)
      known_from = std::max(known_from, member.recent[0].line);
    const bool counts = counting_alike.contains(index);
    for (std::size_t i = 0; i < member.recent.size(); ++i) {
      const RecentCall& call = member.recent[i];
      calls.push_back({call.line,
                       {member.nranks, call.symbol},
                       counts ? call.op_count : SequenceCall::kNoOpCount});
    }
  }
  std::erase_if(calls, [&](const LoggedCall& call) { return call.line < known_from; });
  std::ranges::stable_sort(calls, {}, &LoggedCall::line);
  if (calls.size() > kMostCalls)
    calls.erase(calls.begin(), calls.end() - static_cast<std::ptrdiff_t>(kMostCalls));
  return calls;
}

class Kinds {
 public:
  SequenceCall number(const LoggedCall& call) {
    auto [known, is_new] = numbers_.try_emplace(call.kind, static_cast<std::uint32_t>(all_.size()));
    if (is_new) all_.push_back(call.kind);
    return {known->second, call.op_count};
  }
  const Kind& operator[](std::uint32_t number) const { return all_[number]; }
  std::size_t size() const { return all_.size(); }

 private:
  std::map<Kind, std::uint32_t> numbers_;
  std::vector<Kind> all_;
};

// How often each kind of call comes in the program.
std::vector<std::size_t> kinds_in(const CallSequence& program, std::size_t kinds) {
  std::vector<std::size_t> often(kinds, 0);
  for (const SequenceCall& call : program) ++often[call.call];
  return often;
}

// For each call of the program: the chance that the worker made it and its log lacks it.
std::vector<double> chances_to_lack(const CallSequence& program,
                                    const std::vector<std::size_t>& in_program,
                                    const CallSequence& log, double loss) {
  std::unordered_set<std::uint32_t> in_log;
  for (const SequenceCall& call : log) in_log.insert(call.call);
  std::vector<double> chances;
  chances.reserve(program.size());
  for (const SequenceCall& call : program)
    chances.push_back(in_program[call.call] >= kOftenEnough && !in_log.contains(call.call) ? 1
                                                                                           : loss);
  return chances;
}

// For each number of calls: sums over all ways in which the log can be the program with lines
// missing.
std::vector<double> likelihood_of_ends(const CallSequence& program, const CallSequence& log,
                                       const std::vector<double>& lack, double loss) {
  const std::size_t size = program.size();
  // told[j]: the likelihood that the log's calls so far end at the program's j-th call.
  std::vector<double> told(size + 1, 1);  // the log may begin anywhere
  std::vector<double> next(size + 1, 0);
  bool first = true;
  for (const SequenceCall& call : log) {
    // the log's earlier calls are explained, and the program's calls since are missing
    double carried = 0;
    double most = 0;
    next[0] = 0;
    for (std::size_t j = 1; j <= size; ++j) {
      carried = first ? 1 : carried * (j >= 2 ? lack[j - 2] : 1) + told[j - 1];
      next[j] = program[j - 1] == call ? carried * (1 - loss) : 0;
      next[j] += first ? 0 : told[j] * kStray;
      most = std::max(most, next[j]);
    }
    if (most <= 0) continue;  // a stray call before the first known one
    for (double& value : next) value /= most;
    std::swap(told, next);
    first = false;
  }
  std::vector<double> ends(size + 1, 0);
  double carried = 0;
  for (std::size_t j = 0; j <= size; ++j) {
    carried = (j > 0 ? carried * lack[j - 1] : 0) + told[j];
    ends[j] = carried;
  }
  return ends;
}

// The share of the log's calls that the program contains, in order.
double share_explained(const CallSequence& program, const CallSequence& log) {
  std::vector<std::size_t> row(program.size() + 1, 0);
  for (const SequenceCall& call : log) {
    std::size_t diagonal = 0;
    for (std::size_t j = 1; j <= program.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = program[j - 1] == call ? diagonal + 1 : std::max(row[j], row[j - 1]);
      diagonal = above;
    }
  }
  return log.empty() ? 0 : static_cast<double>(row.back()) / static_cast<double>(log.size());
}

}  // namespace

std::optional<ProgramOrder> program_order_of(const View& view) {
  const std::set<std::size_t> counting_alike = members_counting_alike(view);
  Kinds kinds;
  std::vector<CallSequence> logs;
  std::vector<std::size_t> longest_first;
  for (std::size_t which = 0; which < view.workers.all.size(); ++which) {
    CallSequence& log = logs.emplace_back();
    for (const LoggedCall& call : calls_of(view, view.workers.all[which], counting_alike))
      log.push_back(kinds.number(call));
    if (!log.empty()) longest_first.push_back(which);
  }
  if (longest_first.size() < kFewestWorkers) return std::nullopt;
  std::ranges::stable_sort(longest_first, std::greater{},
                           [&](std::size_t which) { return logs[which].size(); });

  CommonSequence common(logs[longest_first.front()]);
  for (std::size_t i = 1; i < std::min(longest_first.size(), kMostAuthors); ++i)
    if (share_explained(common.calls(), logs[longest_first[i]]) >= kRunsIt / 2)
      common.add(logs[longest_first[i]]);

  ProgramOrder order;
  order.loss = std::clamp(common.loss(), kLeastLoss, kMostLoss);
  const CallSequence& program = common.calls();
  const bool has_op_counts = std::ranges::any_of(
      program, [](const SequenceCall& call) { return call.op_count != SequenceCall::kNoOpCount; });
  if (!has_op_counts && order.loss > kMostLossForOrder) return std::nullopt;
  for (const SequenceCall& call : program)
    order.calls.push_back({kinds[call.call].nranks, kinds[call.call].symbol});
  const std::vector<std::size_t> in_program = kinds_in(program, kinds.size());
  for (std::size_t which : longest_first) {
    if (share_explained(program, logs[which]) < kRunsIt) continue;
    const std::vector<double> lack = chances_to_lack(program, in_program, logs[which], order.loss);
    order.places.push_back({which, likelihood_of_ends(program, logs[which], lack, order.loss)});
  }
  const auto running = static_cast<double>(order.places.size());
  if (running < kFewestRunIt * static_cast<double>(longest_first.size())) return std::nullopt;
  return order;
}

}  // namespace faultline
