#include "rules/answer/checklist.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <set>
#include <utility>

#include "model/ranks.h"
#include "rules/answer/coverage.h"
#include "rules/answer/coverage_parts.h"
#include "rules/answer/coverage_performance.h"
#include "rules/knowledge/prose.h"
#include "rules/picture/who/kernel_logs.h"
#include "rules/picture/who/source_attempts.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {
namespace {

constexpr std::string_view kBandwidth = "expected bandwidth";

// The first finding of the job's own trouble that is of one of these classes.
const Finding* found(const Diagnosis& diagnosis, std::initializer_list<Cause> causes) {
  for (const auto* findings : {&diagnosis.root_causes, &diagnosis.symptoms})
    for (const Finding& finding : *findings)
      if (std::ranges::find(causes, finding.cause) != causes.end()) return &finding;
  return nullptr;
}

// A rank has joined if its lines name process groups, or if there is a dump of it.
std::size_t ranks_with_groups(const View& view) {
  std::set<int> ranks;
  for (const TorchRank* rank : view.job.torch().ranks())
    if (rank->rank >= 0 && !rank->guessed && (!rank->standings.empty() || !rank->timeouts.empty()))
      ranks.insert(rank->rank);
  for (const auto& [rank, dump] : view.job.flight().latest())
    if (rank >= 0) ranks.insert(rank);
  return ranks.size();
}

Check ranks_joined(const View& view) {
  Check check{.check = "all ranks joined", .status = CheckStatus::unknown};
  if (view.roll.expected == 0) {
    check.detail =
        view.roll.seen == 0 ? "no line names a rank" : "no line says how many ranks the job has";
    check.command = "export NCCL_DEBUG=INFO";
    return check;
  }
  const std::size_t joined =
      view.workers.all.empty() ? ranks_with_groups(view) : view.workers.all.size();
  if (std::cmp_greater_equal(joined, view.roll.expected)) check.status = CheckStatus::pass;
  check.detail = fmt::format("{} of {}", view.roll.seen, view.roll.expected);
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
    check.command = "export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL";
    return check;
  }
  check.status = view.lines_are_missing()       ? CheckStatus::unknown
                 : !in_step                     ? CheckStatus::fail
                 : uncompared_members(view) > 0 ? CheckStatus::unknown
                                                : CheckStatus::pass;
  check.detail = counted(compared, "communicator") + " compared";
  return check;
}

// How many calls NCCL counted alike on all ranks of a communicator, without a line for them.
std::uint64_t silent_calls(const View& view) {
  std::uint64_t silent = 0;
  for (const Alignment& alignment : view.alignments) {
    if (alignment.basis != Basis::counted || alignment.members.size() < 2) continue;
    const Member& first = view.member(alignment.members.front());
    const bool on_all = std::ranges::all_of(alignment.members, [&](std::size_t index) {
      const Member& member = view.member(index);
      // Up to 2.7, Send and Recv count once for each of their pieces.
      return member.skipped_op_counts == first.skipped_op_counts && member.point_to_point == 0;
    });
    if (on_all) silent = std::max(silent, first.skipped_op_counts);
  }
  return silent;
}

Check calls_are_logged(const View& view) {
  Check check{.check = "every call has its line", .status = CheckStatus::unknown};
  const bool any = std::ranges::any_of(
      view.members, [&](std::size_t index) { return view.member(index).calls > 0; });
  if (!any) {
    check.detail = "no line shows a call";
    check.command = "export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL";
  } else if (view.lines_are_missing()) {
    check.status = CheckStatus::fail;
    check.detail =
        fmt::format("about {:.0f} % of the lines are missing", std::max(1.0, view.loss * 100));
  } else if (std::uint64_t silent = silent_calls(view); silent > 0) {
    check.detail = fmt::format(
        "opCount grew by {} on all ranks without a line for it, as when CUDA graphs are replayed: "
        "only the capture is logged",
        silent);
  } else {
    check.status = CheckStatus::pass;
    check.detail = "as far as op counts show";
  }
  return check;
}

Check no_gpu_errors(const View& view, const Diagnosis& diagnosis) {
  Check check{.check = "GPUs free of errors in kernel logs", .status = CheckStatus::unknown};
  std::size_t errors = 0;
  for (const XidIncident& incident : view.job.hardware().xids()) {
    const XidMeaning* meaning = view.catalog.xid(incident.code);
    if (meaning != nullptr && meaning->severity >= Severity::error) ++errors;
  }
  std::set<std::string> covered = hosts_with_kernel_log(view);
  auto with_log =
      std::ranges::count_if(view.hosts, [&](const std::string& h) { return covered.contains(h); });
  const auto of_a_gpu = [](const Finding& finding) {
    return is_of(finding.cause, Family::gpu) && finding.severity >= Severity::error;
  };
  const bool of_the_job = std::ranges::any_of(diagnosis.root_causes, of_a_gpu) ||
                          std::ranges::any_of(diagnosis.symptoms, of_a_gpu);
  if (errors > 0 && of_the_job)
    check.status = CheckStatus::fail;
  else if (errors == 0 && !view.hosts.empty() &&
           with_log == static_cast<std::ptrdiff_t>(view.hosts.size()))
    check.status = CheckStatus::pass;
  check.detail =
      fmt::format("NVIDIA driver lines seen for {} of {} hosts", with_log, view.hosts.size());
  if (errors > 0 && !of_the_job)
    check.detail += "; there are errors, but of another time or another part";
  if (check.status == CheckStatus::unknown) check.command = "dmesg -T | grep NVRM";
  return check;
}

// Ranks of a root cause that ended by themselves, as a launcher reports. Other ranks only followed.
std::set<int> to_blame_and_ended(const View& view, const Diagnosis& diagnosis) {
  std::set<int> to_blame;
  for (const Finding& finding : diagnosis.root_causes)
    to_blame.insert(finding.subject.ranks.begin(), finding.subject.ranks.end());
  std::set<int> ended;
  const SourceAttempts attempts(view);
  for (const TorchLine<ProcessExit>& exit : view.job.torch().exits())
    if (ended_by_itself(exit.fact) && attempts.in_attempt(exit.line))
      std::ranges::copy_if(exit.fact.ranks, std::inserter(ended, ended.end()),
                           [&](int rank) { return to_blame.contains(rank); });
  return ended;
}

// Whether every rank's process is alive, as far as ranks and launchers say.
Check ranks_alive(const View& view, const Diagnosis& diagnosis) {
  Check check{.check = "all ranks alive", .status = CheckStatus::unknown};
  std::set<int> ended = to_blame_and_ended(view, diagnosis);
  for (const auto* findings : {&diagnosis.root_causes, &diagnosis.symptoms})
    for (const Finding& finding : *findings)
      for (const Cause cause : {Cause::software_rank_crashed, Cause::software_cuda_oom,
                                Cause::host_oom_killed, Cause::process_aborted})
        if (finding.cause == cause)
          ended.insert(finding.subject.ranks.begin(), finding.subject.ranks.end());
  if (!ended.empty()) {
    check.status = CheckStatus::fail;
    check.detail = fmt::format("ended: rank {}", to_text(std::vector(ended.begin(), ended.end())));
  } else if (diagnosis.verdict == Verdict::healthy && !view.workers.all.empty() &&
             static_cast<int>(view.workers.all.size()) >= view.workers.expected) {
    check.status = CheckStatus::pass;
    check.detail = "every rank's log goes on to the last call, or to its end";
  } else {
    check.detail =
        "no line says that a rank ended; a log cannot show that a silent process is alive";
    check.command =
        "srun --overlap --jobid \"${SLURM_JOB_ID:?the number of the job in Slurm}\" ps -o "
        "pid,stat,etime,cmd -C python";
  }
  return check;
}

Check first_rank_reached(const View& view, const Diagnosis& diagnosis) {
  Check check{.check = "rendezvous port reachable", .status = CheckStatus::unknown};
  if (const Finding* failed = found(diagnosis, {Cause::launch_connect_failed})) {
    check.status = CheckStatus::fail;
    check.detail = failed->title;
    return check;
  }
  const bool all_set_up =
      !view.members.empty() && std::ranges::all_of(view.members, [&](std::size_t index) {
        const Member& member = view.member(index);
        return member.complete || member.calls > 0;
      });
  if (all_set_up) {
    check.status = CheckStatus::pass;
    check.detail = "the set-up of every communicator finished";
  } else {
    check.detail = "no line says whether the ranks reached the first rank";
    check.command =
        "nc -zv \"${MASTER_ADDR:?the address of the first rank}\" \"${MASTER_PORT:?its port}\"";
  }
  return check;
}

// Whether this kind of trouble was found among the ranks that could be compared.
Check agreement(const View& view, const Diagnosis& diagnosis, std::string name,
                std::initializer_list<Cause> causes, std::string_view agreed) {
  Check check{.check = std::move(name), .status = CheckStatus::unknown};
  if (const Finding* differs = found(diagnosis, causes)) {
    check.status = CheckStatus::fail;
    check.detail = differs->title;
    return check;
  }
  const Check in_step = ranks_in_step(view);
  const bool compared = std::ranges::any_of(
      view.alignments, [](const Alignment& a) { return a.members.size() > 1 && a.furthest > 0; });
  if (compared && in_step.status != CheckStatus::unknown) {
    check.status = CheckStatus::pass;
    check.detail = agreed;
  } else {
    check.detail = compared ? "lines are missing" : "no calls of two ranks to compare";
    check.command = "export TORCH_DISTRIBUTED_DEBUG=DETAIL";
  }
  return check;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// The operation that ranks entered last.
Check last_operation(const View& view, const Diagnosis& diagnosis) {
  Check check{.check = "last operation", .status = CheckStatus::unknown};
  const Finding* stands = found(diagnosis, {Cause::collective_rank_behind,
                                            Cause::collective_stalled, Cause::collective_timeout});
  // The communicator in which ranks wait; else the largest.
  const Alignment* largest = nullptr;
  bool waits = false;
  for (const Alignment& alignment : view.alignments) {
    if (alignment.furthest == 0) continue;
    const bool named = stands != nullptr && holds(stands->subject.communicators,
                                                  view.communicators[alignment.communicator].id);
    if (largest != nullptr &&
        std::pair(named, alignment.members.size()) <= std::pair(waits, largest->members.size()))
      continue;
    largest = &alignment;
    waits = named;
  }
  if (largest == nullptr) {
    check.detail = "no line shows a call";
    check.command = "export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL";
    return check;
  }
  const auto there = std::ranges::count(largest->positions, largest->furthest);
  check.status = stands != nullptr                       ? CheckStatus::fail
                 : diagnosis.verdict == Verdict::healthy ? CheckStatus::pass
                                                         : CheckStatus::unknown;
  check.detail = fmt::format(
      "{} of communicator {} was entered by {} of {} ranks", largest->label(largest->furthest - 1),
      view.communicators[largest->communicator].id, there, largest->members.size());
  return check;
}

Check bandwidth(const Diagnosis& diagnosis) {
  Check check{.check = std::string(kBandwidth), .status = CheckStatus::unknown};
  if (const Finding* low = found(diagnosis, {Cause::performance_bandwidth_low})) {
    check.status = CheckStatus::fail;
    check.detail = low->title;
    return check;
  }
  check.detail = "no measurement was low, but none proves that the network is fine";
  check.command = "all_reduce_perf -b 8 -e 8G -f 2 -g 8";
  return check;
}

// Which algorithm NCCL was told to use; its own choice stands in TUNING lines.
Check algorithm(const View& view, const Diagnosis& diagnosis) {
  Check check{.check = "algorithm selected", .status = CheckStatus::unknown};
  if (const Finding* differs = found(diagnosis, {Cause::config_environment_mismatch})) {
    check.status = CheckStatus::fail;
    check.detail = differs->title;
    return check;
  }
  if (view.members.empty()) {
    check.detail = "no line of NCCL was seen";
  } else {
    check.detail = "no suspicious setting was seen; NCCL chooses an algorithm for each call";
  }
  check.command = "export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,TUNING";
  return check;
}

}  // namespace

std::vector<Check> checklist_of(const View& view, const Diagnosis& diagnosis) {
  std::vector<Check> checks{
      ranks_joined(view),
      ranks_alive(view, diagnosis),
      first_rank_reached(view, diagnosis),
      ranks_in_step(view),
      last_operation(view, diagnosis),
      calls_are_logged(view),
      agreement(view, diagnosis, "every rank makes each call",
                {Cause::software_collective_skipped, Cause::software_p2p_mismatch},
                "no rank left out a call that its peers made"),
      agreement(view, diagnosis, "calls agree in function, count and type",
                {Cause::software_collective_mismatch},
                "ranks called the same functions, counts and types"),
      no_gpu_errors(view, diagnosis)};
  for (Check& check : checks_of_parts(view)) checks.push_back(std::move(check));
  const std::vector<Check> measured = checks_of_performance(view);
  checks.insert(checks.end(), measured.begin(), measured.end());
  if (std::ranges::find(measured, kBandwidth, &Check::check) == measured.end())
    checks.push_back(bandwidth(diagnosis));
  checks.push_back(algorithm(view, diagnosis));
  return checks;
}

}  // namespace faultline
