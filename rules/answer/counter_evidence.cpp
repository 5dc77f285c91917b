#include "rules/answer/counter_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rules/detect/parts/facts.h"
#include "rules/knowledge/limits.h"
#include "rules/picture/read/xids_by_place.h"
#include "rules/picture/who/kernel_logs.h"

namespace faultline {
namespace {

constexpr std::chrono::seconds kQueuedFor{60};  // calls that were queued are still printed

bool stops_its_rank(const Finding& finding) {
  const bool part = is_of(finding.cause, {Family::gpu, Family::host});
  return part && finding.severity == Severity::critical && finding.subject.ranks.size() == 1;
}

// A rank whose GPU or host is gone makes no calls.
void rank_went_on(const View& view, Finding& finding) {
  if (!stops_its_rank(finding) || !finding.first_seen) return;
  std::optional<Timestamp> last;
  for (const std::size_t index : view.members) {
    const Member& member = view.member(index);
    const auto time = member.last_line.time.wall();
    if (time && !member.last_line.time.zone_assumed &&
        view.worker_of(index).rank == finding.subject.ranks.front())
      last = std::max(last.value_or(*time), *time);
  }
  if (!last || *last <= *finding.first_seen + kQueuedFor) return;
  finding.against.push_back(fmt::format(
      "rank {} still made calls {} s after it", finding.subject.ranks.front(),
      std::chrono::duration_cast<std::chrono::seconds>(*last - *finding.first_seen).count()));
}

// The driver writes to the kernel log what happens to a GPU.
void kernel_log_is_silent(const View& view, std::optional<std::set<std::string>>& with_kernel_log,
                          Finding& finding) {
  if (!is_of(finding.cause, Family::gpu) || finding.subject.hosts.size() != 1) return;
  const auto& sources = view.job.sources();
  const bool from_driver = std::ranges::any_of(finding.evidence, [&](const Evidence& line) {
    const SourceState* source = sources.find(line.source);
    return source != nullptr && !source->dialects.contains("nccl") &&
           !source->dialects.contains("torch");
  });
  const std::string& host = finding.subject.hosts.front();
  // In a log of several kinds, the driver's lines stand beside those of NCCL and PyTorch.
  const bool has_xid = std::ranges::any_of(finding.subject.gpus, [&](const std::string& gpu) {
    return view.xids().names_gpu(host, gpu.substr(gpu.rfind('/') + 1));
  });
  if (from_driver || has_xid) return;
  if (!with_kernel_log) with_kernel_log = hosts_with_kernel_log(view);
  if (!with_kernel_log->contains(host)) return;
  finding.against.push_back(fmt::format("the kernel log of {} says nothing about this GPU", host));
}

// The connection failed, but the error counters of its ports stand still.
void ports_are_clean(const View& view, std::optional<PartFacts>& facts, Finding& finding) {
  if (!is_one_of(finding.cause, {Cause::network_transport_error, Cause::network_peer_lost})) return;
  if (!facts) facts.emplace(view);
  for (const std::string& host : finding.subject.hosts) {
    std::size_t read_twice = 0;
    bool clean = true;
    for (const std::size_t port : facts->ports.on(host)) {
      for (const Movement& movement : facts->moved[port]) {
        if (movement.counter->of->finding == Cause::none) continue;
        clean &= level_of(movement) == Level::nothing && !movement.full_before;
        ++read_twice;
      }
    }
    if (read_twice > 0 && clean)
      finding.against.push_back(
          fmt::format("no error counter of the ports of {} grew between two readings", host));
  }
}

// The name of a file is a weaker witness of the host than a line.
void host_is_told_by_a_name(const View& view, Finding& finding) {
  std::set<std::string> told;
  for (const Evidence& line : finding.evidence) {
    const auto source = view.job.sources().index_of(line.source);
    if (!source || !told.insert(line.source).second) continue;
    const NamedHost named = view.job.sources().whose(*source);
    const auto& hosts = finding.subject.hosts;
    if (named.told == HostTold::by_path_alone &&
        std::ranges::find(hosts, named.host) != hosts.end())
      finding.against.push_back(
          fmt::format("only the file name {} says that this is {}", line.source, named.host));
  }
}

// By id of a finding: the places of the root causes that explain it.
using Accounts = std::unordered_map<std::string_view, std::vector<std::size_t>>;

Accounts accounts_of(const std::vector<Finding>& root_causes) {
  Accounts accounts;
  for (std::size_t c = 0; c < root_causes.size(); ++c)
    for (const std::string& id : root_causes[c].explains) accounts[id].push_back(c);
  return accounts;
}

void others_account_for_it(const std::vector<Finding>& root_causes, const Accounts& accounts,
                           Finding& finding) {
  constexpr std::size_t kMostNamed = 8;
  std::set<std::size_t> others;
  for (const std::string& id : finding.explains)
    for (const std::size_t c : accounts.at(id))
      if (others.size() < kMostNamed && root_causes[c].id != finding.id &&
          root_causes[c].confidence >= limits::nearly_as_sure * finding.confidence)
        others.insert(c);
  for (const std::size_t c : others)
    finding.against.push_back(
        fmt::format("{} explains the same symptoms: {}", root_causes[c].id, root_causes[c].title));
}

}  // namespace

void add_counter_evidence(const View& view, std::vector<Finding>& root_causes) {
  const Accounts accounts = accounts_of(root_causes);
  std::optional<std::set<std::string>> with_kernel_log;  // both are made for the first that asks
  std::optional<PartFacts> facts;
  for (Finding& finding : root_causes) {
    rank_went_on(view, finding);
    kernel_log_is_silent(view, with_kernel_log, finding);
    ports_are_clean(view, facts, finding);
    host_is_told_by_a_name(view, finding);
    others_account_for_it(root_causes, accounts, finding);
  }
}

}  // namespace faultline
