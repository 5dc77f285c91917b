#include "rules/picture/calls/stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "rules/state/flight.h"

namespace faultline {
namespace {

// "stacks/rank-3.txt". A bare number is no rank.
int rank_of_file(const std::string& name) {
  std::string lower = name.substr(name.rfind('/') + 1);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower.find("rank") == std::string::npos ? -1 : rank_in_name(name);
}

class Reader {
 public:
  explicit Reader(const View& view) : view_(view) {
    for (const Worker& worker : view.workers.all) {
      if (worker.pid == 0) continue;
      Candidates& same_pid = workers_[worker.pid];
      same_pid.all.push_back(&worker);
      const std::set<std::string> hosts{worker.host, worker.sender_host};
      if (worker.host.empty())
        same_pid.of_any_host.push_back(&worker);
      else
        for (const std::string& host : hosts) same_pid.by_host[host].push_back(&worker);
    }
  }

  StandingByStack read(const TorchLine<StackTop>& stack) const {
    StandingByStack standing{.rank = stack.fact.rank,
                             .pid = stack.fact.pid,
                             .host = view_.job.sources().host_of(stack.line.source),
                             .meaning = view_.catalog.frames.meaning_of(stack.fact.frames),
                             .gil = stack.fact.gil,
                             .stack = &stack};
    const std::string& file = view_.job.sources().at(stack.line.source).source.name;
    if (const Worker* worker = worker_of(standing)) {
      standing.rank = worker->rank;
      if (!worker->host.empty()) standing.host = worker->host;
    }
    if (standing.rank < 0) standing.rank = rank_of_file(file);
    if (standing.host.empty() && standing.rank >= 0)
      if (const auto& workers = view_.workers.of_rank(standing.rank); !workers.empty())
        standing.host = view_.workers.all[workers.back()].host;
    return standing;
  }

 private:
  // By its pid, if no process on another host has the same.
  const Worker* worker_of(const StandingByStack& standing) const {
    if (standing.rank >= 0) return nullptr;
    const auto known = workers_.find(standing.pid);
    if (known == workers_.end()) return nullptr;
    const Candidates& same_pid = known->second;
    if (standing.host.empty()) return only_one(same_pid.all, {});
    const auto there = same_pid.by_host.find(standing.host);
    return there == same_pid.by_host.end() ? only_one(same_pid.of_any_host, {})
                                           : only_one(same_pid.of_any_host, there->second);
  }

  static const Worker* only_one(std::span<const Worker* const> some,
                                std::span<const Worker* const> others) {
    if (some.size() + others.size() != 1) return nullptr;
    return some.empty() ? others.front() : some.front();
  }

  struct Candidates {
    std::vector<const Worker*> all;
    std::vector<const Worker*> of_any_host;  // their host is not known
    std::map<std::string, std::vector<const Worker*>> by_host;
  };

  const View& view_;
  std::map<std::int64_t, Candidates> workers_;  // by pid
};

// Training steps that ranks print after their stacks: a rank that goes on was dumped while it ran,
// and is not stuck.
class StepsBelow {
 public:
  explicit StepsBelow(const View& view) {
    for (const PartRecord& record : view.job.parts().records()) {
      if (record.kind != "training") continue;
      const PartSeries* steps = view.job.parts().find(record, "step");
      if (steps == nullptr) continue;
      const LineRef& last = *steps->last().line;
      Last& of_source = last_[last.source];
      std::uint64_t& of_rank = of_source.by_rank[std::max(rank_in(record.name("rank")), -1)];
      of_rank = std::max(of_rank, last.line);
      of_source.of_any = std::max(of_source.of_any, last.line);
    }
  }

  bool are_there(const StandingByStack& standing) const {
    const LineRef& line = standing.stack->line;
    const auto of_source = last_.find(line.source);
    if (of_source == last_.end()) return false;
    if (standing.rank < 0) return of_source->second.of_any > line.line;
    // A step without a rank may be its.
    return std::ranges::any_of(std::array{-1, standing.rank}, [&](int rank) {
      const auto last = of_source->second.by_rank.find(rank);
      return last != of_source->second.by_rank.end() && last->second > line.line;
    });
  }

 private:
  struct Last {
    std::map<int, std::uint64_t> by_rank;  // -1: not known
    std::uint64_t of_any = 0;
  };

  static int rank_in(std::string_view text) {
    int rank = -1;
    std::from_chars(text.data(), text.data() + text.size(), rank);
    return rank;
  }

  std::map<std::uint32_t, Last> last_;  // by source; lines
};

}  // namespace

std::string StandingByStack::text() const {
  std::string said = meaning.known != nullptr ? meaning.known->does
                     : !meaning.frame.empty() ? "runs code of its own"
                                              : "stands elsewhere";
  if (!meaning.frame.empty()) said += fmt::format(", in {}", meaning.frame);
  if (gil) said += ", and holds Python's lock";
  return said;
}

StandingsByStack::StandingsByStack(const View& view) {
  const Reader reader(view);
  const StepsBelow steps(view);
  std::set<std::pair<std::string, std::int64_t>> processes;
  for (const TorchLine<StackTop>& stack : view.job.torch().stacks()) {
    StandingByStack standing = reader.read(stack);
    if (standing.rank < 0) {
      // Without a rank, the pid and the host tell processes apart. If there is only one stack, the
      // line with the pid may be missing, in gdb's and above a main thread of py-spy's.
      const bool may_be_alone = stack.fact.tool == "gdb" || stack.fact.thread == "MainThread";
      if ((standing.pid != 0 || may_be_alone) &&
          processes.emplace(standing.host, standing.pid).second)
        all.push_back(std::move(standing));
      continue;
    }
    const auto [known, is_new] = of_rank.try_emplace(standing.rank, all.size());
    if (is_new) {
      all.push_back(std::move(standing));
      continue;
    }
    // A later dump of the rank replaces the earlier one, but not by the stack of a helper process,
    // which comes after it and has another pid.
    StandingByStack& kept = all[known->second];
    if (kept.pid == standing.pid || kept.stack->line.source != stack.line.source)
      kept = std::move(standing);
  }
  // If one rank goes on, all do, because they wait for each other. Not every rank prints its steps.
  if (std::ranges::any_of(all, [&](const StandingByStack& one) { return steps.are_there(one); })) {
    all.clear();
    of_rank.clear();
  }
}

}  // namespace faultline
