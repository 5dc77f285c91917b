#include "rules/coverage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace faultline {
namespace {

std::string send_command(const View& view, std::string_view what, std::string_view host) {
  return fmt::format(
      "{} | curl --data-binary @- 'http://FAULTLINE:8686/api/v1/ingest?job={}&host={}'", what,
      view.job.name(), host);
}

// Ranks of which NCCL's lines tell nothing, where they tell of others.
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

// Hosts from which a process was heard.
std::set<std::string> hosts_heard(const View& view) {
  std::set<std::string> hosts = job_hosts(view);
  for (const RemarkingProcess& process : view.job.remarks().processes()) hosts.insert(process.host);
  return hosts;
}

// Once, whoever asks.
void ask(MissingEvidence wanted, std::vector<MissingEvidence>& missing) {
  if (std::ranges::find(missing, wanted.what, &MissingEvidence::what) == missing.end())
    missing.push_back(std::move(wanted));
}

// What would tell more of an error that names two ends, or none.
void ask_for_other_side(const View& view, const Finding& finding,
                        std::vector<MissingEvidence>& missing) {
  if (finding.cause == "nccl.error" || finding.cause == "process.aborted") {
    ask({"the NCCL log of every rank, from its start",
         "the lines at hand only follow from an error elsewhere, or name no cause",
         "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET,COLL"},
        missing);
    return;
  }
  if (finding.cause.starts_with("collective.") || finding.cause.starts_with("process.") ||
      finding.cause == "launch.rank_missing")
    return;
  const std::set<std::string> heard = hosts_heard(view);
  const std::set<std::string> with_kernel_log = hosts_with_kernel_log(view);
  constexpr std::size_t kMostHosts = 2;
  for (std::size_t i = 0; i < std::min(finding.subject.hosts.size(), kMostHosts); ++i) {
    const std::string& host = finding.subject.hosts[i];
    if (!heard.contains(host))
      ask({fmt::format("NCCL log of {}", host),
           "only the other end of a failed connection was heard",
           "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET"},
          missing);
    if (!with_kernel_log.contains(host))
      ask({fmt::format("kernel log of {}", host),
           "a failed connection names it, and nothing says why it failed",
           send_command(view, "dmesg -T", host)},
          missing);
  }
  if (finding.subject.hosts.empty())
    ask({"the hosts at the ends of the connection that failed", "no line ties them to a name",
         "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET on every rank"},
        missing);
}

// Why a call does not end, or a rank never came, is mostly told by a host.
void ask_for_kernel_logs(const View& view, const std::vector<Finding>& unexplained,
                         std::vector<MissingEvidence>& missing) {
  constexpr std::size_t kMostHosts = 16;
  for (const Finding& finding : unexplained) {
    if (finding.cause != "collective.stalled" && finding.cause != "launch.rank_missing") continue;
    const std::set<std::string> told = hosts_with_kernel_log(view);
    const std::set<std::string> all =
        finding.subject.hosts.empty()
            ? job_hosts(view)
            : std::set<std::string>(finding.subject.hosts.begin(), finding.subject.hosts.end());
    std::vector<std::string> hosts;
    for (const std::string& host : all)
      if (!told.contains(host)) hosts.push_back(host);
    if (hosts.empty()) return;
    const std::size_t more = hosts.size() > kMostHosts ? hosts.size() - kMostHosts : 0;
    hosts.resize(hosts.size() - more);
    ask({fmt::format("kernel log of {}{}", fmt::join(hosts, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : ""),
         finding.cause == "collective.stalled" ? "a call does not end and nothing says why"
                                               : "a rank did not come and nothing says why",
         send_command(view, "dmesg -T", hosts.front())},
        missing);
    return;
  }
}

// Ranks that have sent nothing at all, though somebody says that they are of the job.
void ask_for_unheard_ranks(const View& view, std::vector<MissingEvidence>& missing) {
  const std::vector<int> unheard = view.roll.unheard();
  if (unheard.empty() || !view.workers.all.empty()) return;  // of NCCL's lines, see below
  const std::size_t readable = view.job.flight().latest().size();
  const bool by_dumps = readable > 0 && view.job.torch().empty();
  const std::string ranks = ranges(unheard);
  missing.push_back(
      {fmt::format("the {} of rank {}", by_dumps ? "Flight Recorder dump" : "log", ranks),
       fmt::format("{} of {} ranks were seen; what the {} did nothing tells", view.roll.seen,
                   view.roll.expected, unheard.size() == 1 ? "other one" : "others"),
       by_dumps
           ? fmt::format("curl -T nccl_trace_rank_{0} "
                         "'http://FAULTLINE:8686/api/v1/ingest?job={1}&source=nccl_trace_rank_{0}'",
                         unheard.front(), view.job.name())
           : fmt::format("curl -T LOG 'http://FAULTLINE:8686/api/v1/ingest?job={}&rank={}'",
                         view.job.name(), unheard.front())});
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

// A log that says itself that it lacks lines proves nothing by what is not in it.
void ask_for_lost_kernel_lines(const View& view, std::vector<MissingEvidence>& missing) {
  constexpr std::size_t kMostHosts = 8;
  std::map<std::string, std::int64_t> lines;
  for (const LostLines& lost : view.job.hardware().lost_lines()) {
    std::int64_t& of_host = lines[view.job.host_of(lost.spoken_host, lost.source)];
    of_host = std::max(of_host, lost.lines);
  }
  std::size_t asked = 0;
  for (const auto& [host, count] : lines) {
    if (++asked > kMostHosts) return;
    const std::string whose = host.empty() ? "a host that no line names" : host;
    missing.push_back({fmt::format("{} kernel messages of {}", count, whose),
                       "they came faster than they could be logged; what matters may be among them",
                       host.empty() ? "dmesg -T" : send_command(view, "dmesg -T", host)});
  }
}

// A dump that was not read says nothing, and its sender ought to know why.
void ask_for_refused_dumps(const View& view, std::vector<MissingEvidence>& missing) {
  constexpr std::size_t kMostNamed = 4;
  std::map<std::string, std::vector<std::string>> sources;  // by the reason
  for (const auto& [source, why] : view.job.flight().refusals())
    sources[why].push_back(view.job.sources().at(source).source.name);
  for (const auto& [why, names] : sources) {
    const std::vector<std::string> some(
        names.begin(),
        names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMostNamed)));
    missing.push_back({fmt::format("what {}{} {}", fmt::join(some, ", "),
                                   names.size() > some.size()
                                       ? fmt::format(" and {} more", names.size() - some.size())
                                       : "",
                                   names.size() == 1 ? "holds" : "hold"),
                       fmt::format("it was not read: {}", why),
                       "send what the Flight Recorder wrote itself: nccl_trace_rank_*"});
  }
}

}  // namespace

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

std::size_t uncompared_members(const View& view) {
  const std::vector<Member>& members = view.job.progress().members();
  std::vector<bool> placed(members.size());
  for (const Communicator& communicator : view.communicators)
    for (std::size_t member : communicator.members) placed[member] = true;
  std::size_t count = 0;
  for (std::size_t i : view.members)
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

std::vector<MissingEvidence> missing_evidence_of(const View& view,
                                                 const std::vector<Finding>& unexplained) {
  std::vector<MissingEvidence> missing;
  for (const std::string& source : broken_off_sources(view))
    missing.push_back({fmt::format("the rest of {}", source),
                       "it broke off, so where its ranks stand is not known",
                       "send it again, whole; what is held already is skipped"});
  ask_for_refused_dumps(view, missing);
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
  for (const Finding& finding : unexplained) ask_for_other_side(view, finding, missing);
  ask_for_kernel_logs(view, unexplained, missing);
  ask_ncclras(view, unexplained, missing);
  ask_for_unheard_ranks(view, missing);
  if (auto unseen = unseen_ranks(view); !unseen.empty() && view.workers.expected > 0)
    missing.push_back({fmt::format("NCCL log of rank {}", ranges(unseen)),
                       "the job has these ranks and no line of theirs was seen",
                       "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL"});
  if (view.lines_are_missing())
    missing.push_back(
        {fmt::format("whole NCCL logs (about {:.0f} % of the lines are missing)",
                     std::max(1.0, view.loss * 100)),
         "ranks show each other's gaps, and what is missing may be what they wait for",
         "NCCL_DEBUG_FILE=/tmp/nccl.%h.%p, a file of its own for each process"});
  ask_for_lost_kernel_lines(view, missing);
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
