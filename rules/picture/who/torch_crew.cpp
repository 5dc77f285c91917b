#include "rules/picture/who/torch_crew.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "rules/state/sources.h"

namespace faultline {
namespace {

constexpr int kMostExpected = 1 << 20;

}  // namespace

TorchCrew::TorchCrew(const View& view) : view_(view), source_attempts_(view) {
  expected_ = view.roll.expected;
  for (const Worker& worker : view.workers.all) {
    if (worker.rank < 0) continue;
    world_.insert(worker.rank);
    if (!worker.host.empty()) hosts_.emplace(worker.rank, worker.host);
    if (!worker.gpu.empty()) gpus_.emplace(worker.rank, gpu_name(worker.host, worker.gpu));
  }
  for (const auto& exit : view.job.torch().exits()) {
    if (!in_attempt(exit.line)) continue;
    const std::string host = short_host(exit.fact.host);
    for (const int rank : exit.fact.ranks) {
      world_.insert(rank);
      if (!host.empty()) hosts_.emplace(rank, host);
    }
  }
  // If some lines of a source name their host, a line that does not may be from another host.
  std::set<std::uint32_t> of_labelled_lines;
  for (const TorchRank* rank : view.job.torch().ranks())
    if (!rank->host.empty()) of_labelled_lines.insert(rank->source);
  for (const TorchRank* rank : view.job.torch().ranks()) {
    ranks_.push_back(rank);
    if (rank->rank < 0) continue;
    world_.insert(rank->rank);
    std::string host = rank->host;
    if (host.empty() && !of_labelled_lines.contains(rank->source))
      host = view.job.sources().host_of(rank->source);
    if (!host.empty()) hosts_.emplace(rank->rank, std::move(host));
  }
  fill_gaps();
  world_.insert(view.roll.heard.begin(), view.roll.heard.end());
  for (int rank = 0; rank < std::min(expected_, kMostExpected); ++rank) world_.insert(rank);
}

// If one log holds the lines of all ranks, a missing number is a rank that printed nothing.
void TorchCrew::fill_gaps() {
  constexpr std::size_t kEnough = 3;
  if (world_.size() < kEnough) return;
  for (const TorchRank* rank : ranks_) {
    // Lines without a label and without a timeout may be a launcher's.
    const bool nobody = rank->rank < 0 && rank->timeouts.empty();
    if ((rank->rank < 0 && !nobody) || rank->guessed || rank->source != ranks_.front()->source)
      return;
  }
  one_log_ = true;
  if (expected_ > 0) return;
  const auto all = static_cast<std::size_t>(*world_.rbegin()) + 1;
  if (all - world_.size() > std::max<std::size_t>(1, world_.size() / 16)) return;
  for (int rank = 0; rank < *world_.rbegin(); ++rank) world_.insert(rank);
}

bool TorchCrew::in_attempt(const LineRef& line) const { return source_attempts_.in_attempt(line); }

bool TorchCrew::would_be_heard(int rank) const {
  return one_log_ || view_.roll.heard.contains(rank);
}

std::string TorchCrew::host_of(int rank) const {
  const auto known = hosts_.find(rank);
  return known == hosts_.end() ? std::string() : known->second;
}

Subject TorchCrew::subject_of(const std::set<int>& ranks) const {
  Subject subject;
  std::set<std::string> hosts;
  std::set<std::string> gpus;
  for (const int rank : ranks) {
    if (rank < 0) continue;
    subject.ranks.push_back(rank);
    if (const std::string host = host_of(rank); !host.empty()) hosts.insert(host);
    if (const auto gpu = gpus_.find(rank); gpu != gpus_.end()) gpus.insert(gpu->second);
  }
  subject.hosts.assign(hosts.begin(), hosts.end());
  subject.gpus.assign(gpus.begin(), gpus.end());
  return subject;
}

std::string TorchCrew::people(const std::set<int>& ranks) const {
  constexpr std::size_t kMostNamed = 8;
  if (ranks.empty()) return "No rank";
  if (ranks.size() > kMostNamed) return fmt::format("{} ranks", ranks.size());
  if (ranks.size() > 1) return fmt::format("Ranks {}", fmt::join(ranks, ", "));
  const int rank = *ranks.begin();
  if (rank < 0) return "A rank";
  const std::string host = host_of(rank);
  return host.empty() ? fmt::format("Rank {}", rank) : fmt::format("Rank {} on {}", rank, host);
}

bool ended_by_itself(const ProcessExit& exit) {
  constexpr int kTerminated = 15;
  if (exit.told_to || exit.signal == kTerminated) return false;
  return exit.signal || exit.exit_code.value_or(0) != 0;
}

EventTime called_at(const TorchTimeout& timeout) {
  constexpr std::int64_t kMostMs = std::int64_t{1} << 40;
  EventTime time = timeout.line.time;
  if (!time.wall_us || !timeout.timeout.ran_ms) return {};
  *time.wall_us -= std::min(*timeout.timeout.ran_ms, kMostMs) * 1000;
  time.uptime_us.reset();
  return time;
}

Order said_order(const LineRef& a, const LineRef& b) {
  if (a.source == b.source && a.line != b.line)
    return a.line < b.line ? Order::before : Order::after;
  return order_of(a.time, b.time, false);
}

}  // namespace faultline
