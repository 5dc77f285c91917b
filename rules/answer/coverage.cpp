#include "rules/answer/coverage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "rules/answer/coverage_hosts.h"
#include "rules/answer/coverage_performance.h"
#include "rules/answer/coverage_ranks.h"
#include "rules/answer/pasteable.h"
#include "rules/knowledge/limits.h"
#include "rules/knowledge/prose.h"

namespace faultline {
namespace {

// Asks for each thing once.
void ask(MissingEvidence wanted, std::vector<MissingEvidence>& missing) {
  if (std::ranges::find(missing, wanted.what, &MissingEvidence::what) == missing.end())
    missing.push_back(std::move(wanted));
}

// Asks for what would say more about an error that names two ends, or none.
void ask_for_other_side(const View& view, const Finding& finding,
                        std::vector<MissingEvidence>& missing) {
  if (is_one_of(finding.cause,
                {Cause::nccl_error, Cause::process_aborted, Cause::software_rank_crashed})) {
    ask({"the NCCL log of every rank, from its start",
         "the lines so far only follow from an error elsewhere, or name no cause",
         "export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET,COLL"},
        missing);
    return;
  }
  if (is_of(finding.cause, {Family::collective, Family::process}) ||
      finding.cause == Cause::launch_rank_missing)
    return;
  constexpr std::size_t kMostHosts = 2;
  for (std::size_t i = 0; i < std::min(finding.subject.hosts.size(), kMostHosts); ++i) {
    const std::string& host = finding.subject.hosts[i];
    if (!view.hosts_heard.contains(host))
      ask({fmt::format("NCCL log of {}", host),
           "only the other end of a failed connection was heard",
           "export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET"},
          missing);
  }
  if (finding.subject.hosts.empty())
    ask({"the hosts at the ends of the connection that failed", "no line gives their names",
         "export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET  # for every rank"},
        missing);
}

// If a log says that it lacks lines, it proves nothing that a line is not in it.
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
    const std::string whose = host_in_words(host);
    MissingEvidence lost{
        .what = fmt::format("{} kernel messages of {}", count, whose),
        .why =
            "they came faster than they could be logged; the line that matters may be among them",
        .command = "dmesg -T"};
    if (!host.empty()) make_sent(view, "kernel log", {host}, lost);
    missing.push_back(std::move(lost));
  }
}

// What was only counted proves nothing either.
void ask_for_left_out(const View& view, std::vector<MissingEvidence>& missing) {
  for (const JobState::LeftOut& left_out : view.job.left_out())
    missing.push_back({fmt::format("{} {}", left_out.lines, left_out.what),
                       "more came than a job keeps, so they were only counted, and the one that "
                       "matters may be among them: send the logs of a few hosts as a job of their "
                       "own",
                       ""});
}

}  // namespace

std::size_t uncompared_members(const View& view) {
  const Members& members = view.job.progress().members();
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

std::vector<MissingEvidence> missing_evidence_of(const View& view, const Diagnosis& diagnosis,
                                                 std::vector<Finding> unexplained,
                                                 const std::set<std::string>& borne_out) {
  // Do not ask about a cause that is nearly ruled out.
  std::erase_if(unexplained,
                [](const Finding& it) { return it.confidence < limits::least_asked_about; });
  std::vector<MissingEvidence> missing;
  for (const std::string& source : broken_off_sources(view))
    missing.push_back({fmt::format("the rest of {}", source),
                       "it broke off, so it is not known where its ranks stand; send the whole log "
                       "again: lines that were sent before are skipped",
                       "", "\"${LOG:?the whole log}\"", upload_query(view, "source", source)});
  const auto add = [&](std::vector<MissingEvidence> more) {
    for (MissingEvidence& it : more) ask(std::move(it), missing);
  };
  add(ask_for_ranks(view, diagnosis, unexplained));
  for (const Finding& finding : unexplained) ask_for_other_side(view, finding, missing);
  add(ask_why_it_stands(view, unexplained));
  add(ask_for_processes(view, unexplained));
  ask_for_lost_kernel_lines(view, missing);
  ask_for_left_out(view, missing);
  if (diagnosis.root_causes.empty()) {
    add(ask_for_tests(view));
    add(ask_what_was_not_looked_at(view, diagnosis.verdict));
  } else if (!borne_out.contains(diagnosis.root_causes.front().id)) {
    add(ask_for_second_witness(view, diagnosis.root_causes.front()));
  }
  add(ask_for_profiles(view, diagnosis));
  if (view.lines_are_missing())
    missing.push_back(
        {fmt::format("whole NCCL logs (about {:.0f} % of the lines are missing)",
                     std::max(1.0, view.loss * 100)),
         "the call that ranks seem to wait for may be among the missing lines; let each process "
         "write a file of its own",
         "export NCCL_DEBUG_FILE=/tmp/nccl.%h.%p"});
  if (std::size_t count = uncompared_members(view); count > 0)
    missing.push_back(
        {fmt::format("which ranks share a communicator ({} could not be placed)", count),
         "NCCL before 2.16 prints no commId, and sizes and hosts do not decide it: use a newer "
         "NCCL, or one log for each attempt of the job",
         ""});
  std::set<std::uint32_t> asked;
  for (const XidIncident& incident : view.job.hardware().xids())
    if (view.job.host_of(incident.spoken_host, incident.source).empty() &&
        asked.insert(incident.source).second)
      missing.push_back(
          {fmt::format("host of {}", view.job.sources().at(incident.source).source.name),
           "its lines name no host, and many hosts have a GPU at such an address: name the host "
           "with --host, or with &host= when you send it",
           ""});
  return missing;
}

}  // namespace faultline
