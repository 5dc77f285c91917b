#include "rules/state/reports.h"

#include <algorithm>

namespace faultline {
namespace {

// Limits, because a hostile report could name any number.
constexpr std::size_t kMostReports = 3;
constexpr std::size_t kMostEntries = std::size_t{1} << 17;  // ranks of communicators in a report
constexpr std::size_t kMostCommunicators = std::size_t{1} << 16;
constexpr std::size_t kMostProcesses = std::size_t{1} << 16;
constexpr std::size_t kMostOperations = 32;
constexpr std::size_t kMostCrowds = 64;
constexpr std::size_t kMostProxies = 4096;

void learn(ReportedProcess& process, const RankReport& said, const LineRef& line) {
  if (!said.host.empty()) process.host = said.host;
  if (said.pid != 0) process.pid = said.pid;
  if (said.cuda_device >= 0) process.cuda_device = said.cuda_device;
  // A process that does not answer says more than a missing communicator.
  const bool known_silent = process.state == "dead" || process.state == "unresponsive";
  if (!said.state.empty() && !(known_silent && said.state == "missing")) process.state = said.state;
  if (!process.line.known() || !said.state.empty()) process.line = line;
}

}  // namespace

void Reports::apply(std::uint32_t source, const Batch& batch, const Event& event) {
  const LineRef line{source, event.line, event.offset, event.time, event.text};
  if (const auto* opened = std::get_if<ReportOpened>(&event.fact)) {
    open(source, *opened);
  } else if (const auto* rank = std::get_if<RankReport>(&event.fact)) {
    if (rank->tool == "inspector") return add_inspected(*rank, line);
    if (rank->tool != "ncclras_monitor") return add(*rank, line, report_of(source));
    const std::pair key{rank->host, rank->pid};
    if (monitored_.size() < kMostProcesses || monitored_.contains(key))
      learn(monitored_[key], *rank, line);
  } else if (const auto* communicator = std::get_if<CommunicatorReport>(&event.fact)) {
    add(*communicator, line, report_of(source));
  } else if (const auto* operation = std::get_if<ProxyOperation>(&event.fact)) {
    add(source, batch.speakers[event.speaker], *operation, line);
  }
}

void Reports::open(std::uint32_t source, const ReportOpened& opened) {
  if (opened.tool == "proxy") {
    proxies_.erase(source);
    return;
  }
  if (reports_.size() == kMostReports) reports_.pop_front();
  JobReport& report = reports_.emplace_back();
  report.source = source;
  report.names_all = opened.names_all;
}

// Reports of several sources may come at the same time. Lines without the head of a report start a
// report too.
JobReport& Reports::report_of(std::uint32_t source) {
  const auto known = std::find_if(reports_.rbegin(), reports_.rend(),
                                  [&](const JobReport& r) { return r.source == source; });
  if (known != reports_.rend()) return *known;
  open(source, {});
  return reports_.back();
}

const JobReport* Reports::from_last(std::size_t back) const {
  std::vector<const JobReport*> order;
  // After a process is gone, ranks may not answer for a while; then the report before still holds.
  for (const JobReport& report : reports_)
    if (report.largest > 0 || !report.communicators.empty() || !report.processes.empty())
      order.push_back(&report);
  // Files are not always read in the order in which they were written.
  if (std::ranges::all_of(order, [](const JobReport* r) { return r->time.has_value(); }))
    std::ranges::stable_sort(order, {}, [](const JobReport* r) { return *r->time; });
  return back < order.size() ? order[order.size() - 1 - back] : nullptr;
}

void Reports::add(const RankReport& said, const LineRef& line, JobReport& report) {
  if (!report.time) report.time = line.time.wall();
  if (said.communicator_id.empty()) {
    if (report.processes.size() < kMostProcesses)
      learn(report.processes.emplace_back(), said, line);
    return;
  }
  if (report.communicators.size() >= kMostCommunicators &&
      !report.communicators.contains(said.communicator_id))
    return;
  ReportedCommunicator& communicator = report.communicators[said.communicator_id];
  communicator.nranks = std::max(communicator.nranks, said.nranks);
  report.largest = std::max(report.largest, said.nranks);
  if (said.rank < 0) {
    if (said.launched && communicator.crowds.size() < kMostCrowds)
      communicator.crowds.push_back({said.operation, *said.launched, said.ranks, line});
    return;
  }
  auto known = communicator.ranks.find(said.rank);
  if (known == communicator.ranks.end()) {
    if (report.entries == kMostEntries) return;
    ++report.entries;
    known = communicator.ranks.try_emplace(said.rank).first;
  }
  ReportedRank& rank = known->second;
  learn(rank.process, said, line);
  if (!said.error.empty() && rank.error.empty()) {
    rank.error = said.error;
    rank.error_line = line;
  }
  if (said.launched &&
      (rank.counts.size() < kMostOperations || rank.counts.contains(said.operation)))
    rank.counts[said.operation] = {*said.launched, line};
}

void Reports::add(const CommunicatorReport& said, const LineRef& line, JobReport& report) {
  if (!report.time) report.time = line.time.wall();
  if (said.nranks > report.largest) {
    report.largest = said.nranks;
    report.seen = 0;
  }
  if (said.nranks == report.largest) report.seen = std::max(report.seen, said.ranks_seen);
  if (said.communicator_id.empty()) return;
  if (report.communicators.size() >= kMostCommunicators &&
      !report.communicators.contains(said.communicator_id))
    return;
  ReportedCommunicator& communicator = report.communicators[said.communicator_id];
  communicator.nranks = std::max(communicator.nranks, said.nranks);
  communicator.missing = std::max(communicator.missing, said.ranks_missing);
  communicator.status = said.status;
  communicator.errors = said.errors;
  communicator.line = line;
}

void Reports::add_inspected(const RankReport& said, const LineRef& line) {
  if (said.rank < 0 || said.communicator_id.empty() || !said.completed) return;
  if (inspected_.size() >= kMostCommunicators && !inspected_.contains(said.communicator_id)) return;
  InspectedCommunicator& communicator = inspected_[said.communicator_id];
  communicator.nranks = std::max(communicator.nranks, said.nranks);
  auto known = communicator.ranks.find(said.rank);
  if (known == communicator.ranks.end()) {
    if (inspected_ranks_ == kMostEntries) return;
    ++inspected_ranks_;
    known = communicator.ranks.try_emplace(said.rank).first;
  }
  ReportedRank& rank = known->second;
  learn(rank.process, said, line);
  if (rank.counts.size() == kMostOperations && !rank.counts.contains(said.operation)) return;
  ReportedRank::Count& count = rank.counts[said.operation];
  // Numbers start again when the job does; within a run they may be slightly out of order.
  constexpr std::uint64_t kOutOfOrder = 64;
  if (*said.completed > count.count || *said.completed + kOutOfOrder < count.count)
    count = {*said.completed, line};
}

void Reports::add(std::uint32_t source, const Speaker& speaker, const ProxyOperation& operation,
                  const LineRef& line) {
  if (proxies_.size() >= kMostProxies && !proxies_.contains(source)) return;
  ProxyWaits& waits = proxies_[source];
  waits.source = source;
  if (!speaker.host.empty()) waits.host = speaker.host;
  if (speaker.rank >= 0) waits.rank = speaker.rank;
  if (operation.waits_for == "gpu") {
    if (waits.gpu++ == 0) waits.gpu_line = line;
  } else if (operation.waits_for == "network") {
    if (waits.network++ == 0) waits.network_line = line;
  }
}

}  // namespace faultline
