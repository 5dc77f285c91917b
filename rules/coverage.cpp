#include "rules/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace faultline {
namespace {

std::string send_command(const View& view, std::string_view what, std::string_view host) {
  return fmt::format(
      "{} | curl --data-binary @- 'http://FAULTLINE:8686/api/v1/ingest?job={}&host={}'", what,
      view.job.name(), host);
}

// Hosts that ranks of the job run on.
std::set<std::string> job_hosts(const View& view) {
  std::set<std::string> hosts;
  for (const Worker& worker : view.workers.all)
    if (!worker.host.empty()) hosts.insert(worker.host);
  return hosts;
}

std::set<std::string> hosts_with_kernel_log(const View& view) {
  std::set<std::string> hosts;
  const auto& sources = view.job.sources().all();
  for (std::uint32_t i = 0; i < sources.size(); ++i)
    if (sources[i].dialects.contains("kernel")) hosts.insert(view.job.sources().host_of(i));
  return hosts;
}

std::vector<int> unseen_ranks(const View& view) {
  std::set<int> seen;
  for (const Worker& worker : view.workers.all) seen.insert(worker.rank);
  if (seen.contains(-1)) return {};  // those whose rank is not known may be any
  std::vector<int> unseen;
  for (int rank = 0; rank < view.workers.expected; ++rank)
    if (!seen.contains(rank)) unseen.push_back(rank);
  return unseen;
}

// "3, 5 to 8, 12": a thousand ranks in one line.
std::string ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += last == i ? fmt::format("{}", numbers[i])
                      : fmt::format("{} to {}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return text;
}

Check ranks_joined(const View& view) {
  Check check{.check = "all ranks joined", .status = CheckStatus::unknown};
  auto seen = static_cast<int>(view.workers.all.size());
  if (view.workers.expected == 0) {
    check.detail = "no line names a rank";
    check.command = "NCCL_DEBUG=INFO";
    return check;
  }
  if (seen >= view.workers.expected) check.status = CheckStatus::pass;
  check.detail = fmt::format("{} of {}", seen, view.workers.expected);
  return check;
}

Check ranks_in_step(const View& view) {
  Check check{.check = "ranks in step", .status = CheckStatus::unknown};
  std::size_t compared = 0;
  bool in_step = true;
  for (const Alignment& alignment : view.alignments) {
    if (alignment.members.size() < 2 || alignment.furthest == 0) continue;
    ++compared;
    in_step &= alignment.in_step();
  }
  if (compared == 0) {
    check.detail = "no calls of two ranks of one communicator to compare";
    check.command = "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL";
    return check;
  }
  check.status = !in_step                       ? CheckStatus::fail
                 : uncompared_members(view) > 0 ? CheckStatus::unknown
                                                : CheckStatus::pass;
  check.detail = fmt::format("{} communicator{} compared", compared, compared == 1 ? "" : "s");
  return check;
}

Check no_gpu_errors(const View& view) {
  Check check{.check = "no GPU errors in kernel logs", .status = CheckStatus::unknown};
  std::size_t errors = 0;
  for (const XidIncident& incident : view.job.hardware().xids()) {
    const XidMeaning* meaning = view.catalog.xid(incident.code);
    if (meaning != nullptr && meaning->severity >= Severity::error) ++errors;
  }
  std::set<std::string> hosts = job_hosts(view);
  std::set<std::string> covered = hosts_with_kernel_log(view);
  auto with_log =
      std::ranges::count_if(hosts, [&](const std::string& h) { return covered.contains(h); });
  if (errors > 0)
    check.status = CheckStatus::fail;
  else if (!hosts.empty() && with_log == static_cast<std::ptrdiff_t>(hosts.size()))
    check.status = CheckStatus::pass;
  check.detail = fmt::format("NVIDIA driver lines seen for {} of {} hosts", with_log, hosts.size());
  if (check.status == CheckStatus::unknown) check.command = "dmesg -T | grep NVRM";
  return check;
}

// Where ranks stand, if their logs do not tell: as long as the processes live, NCCL itself does.
void ask_ncclras(const View& view, const std::vector<Finding>& unexplained,
                 std::vector<MissingEvidence>& missing) {
  const bool hangs = std::ranges::any_of(unexplained, [](const Finding& finding) {
    return finding.cause.starts_with("collective.") || finding.cause == "process.silent";
  });
  const bool calls_tell = std::ranges::any_of(
      view.alignments, [](const Alignment& a) { return a.members.size() > 1 && a.furthest > 0; });
  if (!hangs || calls_tell || view.job.reports().before() != nullptr) return;
  const bool once = view.job.reports().latest() != nullptr;
  missing.push_back({once ? "a second report of ncclras" : "a report of ncclras",
                     once ? "ranks that stand still between two reports are stuck; in one they may "
                            "only be a little late"
                          : "no log shows the calls of two ranks of one communicator",
                     "ncclras -v  # on any host of the job while it runs; NCCL 2.24 and later"});
}

}  // namespace

std::size_t uncompared_members(const View& view) {
  const std::vector<Member>& members = view.job.progress().members();
  std::vector<bool> placed(members.size());
  for (const Communicator& communicator : view.communicators)
    for (std::size_t member : communicator.members) placed[member] = true;
  std::size_t count = 0;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (!placed[i] && members[i].nranks > 1 && members[i].calls > 0) ++count;
  return count;
}

std::vector<std::string> broken_off_sources(const View& view) {
  std::set<std::string> names;
  for (const Alignment& alignment : view.alignments)
    for (std::size_t member : alignment.behind)
      if (view.is_broken_off(member))
        names.insert(view.job.sources().at(view.member(member).calls_source).source.name);
  return {names.begin(), names.end()};
}

std::vector<Check> checklist_of(const View& view) {
  return {ranks_joined(view), ranks_in_step(view), no_gpu_errors(view)};
}

std::vector<MissingEvidence> missing_evidence_of(const View& view,
                                                 const std::vector<Finding>& unexplained) {
  std::vector<MissingEvidence> missing;
  for (const std::string& source : broken_off_sources(view))
    missing.push_back({fmt::format("the rest of {}", source),
                       "it broke off, so where its ranks stand is not known",
                       "send it again, whole; what is held already is skipped"});
  std::set<std::string> asked;
  for (const Finding& finding : unexplained) {
    if (finding.cause != "collective.rank_behind") continue;
    for (const std::string& host : finding.subject.hosts) {
      if (!asked.insert(host).second) continue;
      bool has_log = hosts_with_kernel_log(view).contains(host);
      missing.push_back(
          {fmt::format("{} of {}", has_log ? "stack of the stopped process" : "kernel log", host),
           fmt::format("{} stopped there and nothing says why",
                       finding.subject.ranks.empty()
                           ? std::string("a process")
                           : fmt::format("rank {}", fmt::join(finding.subject.ranks, ", "))),
           has_log ? "py-spy dump --pid <pid>" : send_command(view, "dmesg -T", host)});
    }
  }
  ask_ncclras(view, unexplained, missing);
  if (auto unseen = unseen_ranks(view); !unseen.empty() && view.workers.expected > 0)
    missing.push_back({fmt::format("NCCL log of rank {}", ranges(unseen)),
                       "the job has these ranks and no line of theirs was seen",
                       "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL"});
  std::set<int> cut;
  for (const Alignment& alignment : view.alignments)
    for (std::size_t member : alignment.unaligned) cut.insert(view.worker_of(member).rank);
  cut.erase(-1);
  if (!cut.empty())
    missing.push_back({fmt::format("whole NCCL log of rank {}", ranges({cut.begin(), cut.end()})),
                       "it begins in mid-run or in parts, so where the rank stands is not known",
                       "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL"});
  if (std::size_t count = uncompared_members(view); count > 0)
    missing.push_back(
        {fmt::format("which ranks share a communicator ({} could not be placed)", count),
         "NCCL before 2.16 prints no commId, and sizes and hosts do not tell",
         "NCCL 2.16 or newer, or one log for each attempt of the job"});
  for (const XidIncident& incident : view.job.hardware().xids())
    if (view.job.host_of(incident.spoken_host, incident.source).empty() &&
        asked.insert("#" + std::to_string(incident.source)).second)
      missing.push_back(
          {fmt::format("host of {}", view.job.sources().at(incident.source).source.name),
           "its lines name no machine, and every machine has a GPU at such an address",
           "faultline diagnose --host NAME, or &host=NAME when it is sent"});
  return missing;
}

}  // namespace faultline
