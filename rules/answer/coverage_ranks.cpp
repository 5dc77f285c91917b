#include "rules/answer/coverage_ranks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "rules/answer/pasteable.h"
#include "rules/knowledge/limits.h"

namespace faultline {
namespace {

constexpr std::string_view kCalls = "export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL";
constexpr std::string_view kStart = "export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,NET";
constexpr std::string_view kStack = "py-spy dump --pid {pid}";
constexpr std::string_view kRecorder =
    "export TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1";

std::vector<std::string> everywhere(const View& view) {
  return {view.hosts_heard.begin(), view.hosts_heard.end()};
}

// Asks for ranks that sent nothing at all, although other lines say that the job has them.
void ask_for_unheard_ranks(const View& view, std::vector<MissingEvidence>& missing) {
  const std::vector<int> unheard = view.roll.unheard();
  if (unheard.empty() || !view.workers.all.empty()) return;  // for NCCL's, see unseen_ranks()
  const std::size_t readable = view.job.flight().latest().size();
  const bool by_dumps = readable > 0 && view.job.torch().empty();
  const std::string_view kind = by_dumps                             ? "Flight Recorder dump"
                                : view.job.processes().all().empty() ? "log"
                                                                     : "NCCL log";
  missing.push_back(
      {fmt::format("the {} of rank {}", kind, ranges(unheard)),
       fmt::format("{} of {} ranks were seen; no line says what the other {} did", view.roll.seen,
                   view.roll.expected, unheard.size() == 1 ? "rank" : "ranks"),
       "",
       by_dumps ? fmt::format("nccl_trace_rank_{}", unheard.front())
                : fmt::format("\"${{LOG:?the log of rank {}}}\"", unheard.front()),
       by_dumps ? upload_query(view, "source", fmt::format("nccl_trace_rank_{}", unheard.front()))
                : upload_query(view, "rank", std::to_string(unheard.front()))});
}

// A dump that was not read says nothing, and its sender should know why.
void ask_for_refused_dumps(const View& view, std::vector<MissingEvidence>& missing) {
  constexpr std::size_t kMostNamed = 4;
  std::map<std::string, std::vector<std::string>> sources;  // by the reason
  for (const auto& [source, why] : view.job.flight().refusals())
    sources[why].push_back(view.job.sources().at(source).source.name);
  for (const auto& [why, names] : sources) {
    const std::vector<std::string> some(
        names.begin(),
        names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMostNamed)));
    missing.push_back({fmt::format("the contents of {}{}", fmt::join(some, ", "),
                                   names.size() > some.size()
                                       ? fmt::format(" and {} more", names.size() - some.size())
                                       : ""),
                       fmt::format("not read: {}; send the file that the Flight Recorder itself "
                                   "wrote, such as nccl_trace_rank_0",
                                   why),
                       "", "\"${DUMP:?what the Flight Recorder wrote}\"",
                       upload_query(view, "source", names.front())});
  }
}

// Asks for dumps if other ranks have some, or if PyTorch writes them.
void ask_for_dumps(const View& view, std::vector<MissingEvidence>& missing) {
  const auto dumped = view.job.flight().latest();
  if (dumped.empty()) {
    if (dumps_are_written(view))
      missing.push_back(
          {"the Flight Recorder dump of every rank",
           "PyTorch says that it writes dumps: they show what was started and what completed", "",
           "nccl_trace_rank_0", upload_query(view, "source", "nccl_trace_rank_0"),
           EvidenceKind::flight_recorder, everywhere(view)});
    return;
  }
  std::set<int> without;
  for (const Worker& worker : view.workers.all)
    if (!dumped.contains(worker.rank)) without.insert(worker.rank);
  without.erase(-1);
  if (!without.empty())
    missing.push_back({fmt::format("Flight Recorder dump of rank {}", ranges(without)),
                       "other ranks have dumps; a dump shows which calls its rank completed",
                       std::string(kRecorder)});
}

// There are lines of NCCL, but none says which ranks the job has.
bool ranks_are_unknown(const View& view) {
  const auto& processes = view.job.processes().all();
  const bool heard = !view.members.empty() || std::ranges::any_of(processes, [&](const auto& it) {
    return view.in_attempt(it.process);
  });
  return heard &&
         (view.workers.expected == 0 ||
          std::ranges::find(view.workers.all, -1, &Worker::rank) != view.workers.all.end());
}

void ask_for_start(const View& view, std::vector<MissingEvidence>& missing) {
  std::set<int> unfinished;
  for (const std::size_t index : view.members)
    if (began_and_never_finished(view.member(index))) unfinished.insert(view.worker_of(index).rank);
  if (unfinished.contains(-1) || (unfinished.empty() && ranks_are_unknown(view)))
    missing.push_back({"NCCL log of every rank, from its start",
                       "no line says which ranks the job has, and how far each of them came",
                       std::string(kStart)});
  else if (!unfinished.empty())
    missing.push_back(
        {fmt::format("whole NCCL log of rank {}, and everything else that its process printed",
                     ranges(unfinished)),
         "it began to set up a communicator, and no line says that it finished",
         std::string(kStart)});
}

// If logs do not show where ranks stand, NCCL itself can, as long as the processes live.
void ask_ncclras(const View& view, const std::vector<Finding>& unexplained,
                 std::vector<MissingEvidence>& missing) {
  const bool hangs = std::ranges::any_of(unexplained, [](const Finding& finding) {
    return is_of(finding.cause, Family::collective) || finding.cause == Cause::process_silent;
  });
  const bool calls_tell = std::ranges::any_of(
      view.alignments, [](const Alignment& a) { return a.members.size() > 1 && a.furthest > 0; });
  if (!hangs || calls_tell || view.job.reports().before() != nullptr) return;
  const bool once = view.job.reports().latest() != nullptr;
  missing.push_back({once ? "a second report of ncclras" : "a report of ncclras",
                     once ? "ranks that stand still between two reports are stuck; in a single "
                            "report they may only be a little late"
                          : "no log shows the calls of two ranks of one communicator",
                     "ncclras -v  # on any host of the job while it runs; NCCL 2.24 and later", "",
                     "", EvidenceKind::ras, everywhere(view)});
}

// The finding names the rank that others wait for, or the host where it should be.
bool stands_itself(const Finding& finding) {
  if (finding.cause == Cause::launch_rank_missing)
    return !finding.subject.ranks.empty() || !finding.subject.hosts.empty();
  return is(finding.cause, Trait::standstill);
}

}  // namespace

bool dumps_are_written(const View& view) {
  const Setup& setup = view.job.setup();
  const auto is_on = [&](const ProcessSetup& process, std::string_view question) {
    const std::string* value = setup.answer(process, question);
    return value != nullptr && *value != "0";
  };
  return std::ranges::any_of(setup.processes(), [&](const ProcessSetup& process) {
    return view.in_attempt(process.process) &&
           (is_on(process, "torch TORCH_NCCL_TRACE_BUFFER_SIZE") ||
            is_on(process, "torch TORCH_FR_BUFFER_SIZE")) &&
           (is_on(process, "torch TORCH_NCCL_DUMP_ON_TIMEOUT") ||
            is_on(process, "torch TORCH_FR_DUMP_ON_TIMEOUT"));
  });
}

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

std::string ranges(const std::set<int>& numbers) {
  return ranges(std::vector(numbers.begin(), numbers.end()));
}

std::vector<int> unseen_ranks(const View& view) {
  std::set<int> seen;
  for (const Worker& worker : view.workers.all) seen.insert(worker.rank);
  if (seen.contains(-1)) return {};  // a process of unknown rank may be any rank
  std::vector<int> unseen;
  for (int rank = 0; rank < view.workers.expected; ++rank)
    if (!seen.contains(rank)) unseen.push_back(rank);
  return unseen;
}

bool began_and_never_finished(const Member& member) {
  return member.init && !member.complete && !member.first_op_count;
}

bool not_seen_at_work(const View& view) {
  return view.members.size() > 1 && std::ranges::none_of(view.members, [&](std::size_t index) {
           return view.member(index).calls > 1 || view.member(index).ending;
         });
}

std::vector<MissingEvidence> ask_for_ranks(const View& view, const Diagnosis& diagnosis,
                                           const std::vector<Finding>& unexplained) {
  std::vector<MissingEvidence> missing;
  if (const std::vector<int> unseen = unseen_ranks(view); !unseen.empty())
    missing.push_back({fmt::format("NCCL log of rank {}", ranges(unseen)),
                       "the job has these ranks, but no line from them was seen",
                       std::string(kCalls)});
  ask_for_unheard_ranks(view, missing);
  ask_for_refused_dumps(view, missing);
  if (!unexplained.empty()) ask_for_dumps(view, missing);
  const bool suspected_at_most =
      diagnosis.root_causes.empty()
          ? diagnosis.verdict == Verdict::unknown
          : diagnosis.root_causes.front().confidence < limits::least_to_blame;
  if (suspected_at_most) ask_for_start(view, missing);
  if (diagnosis.root_causes.empty() && not_seen_at_work(view))
    missing.push_back({"NCCL log of every rank, with its calls and to its end",
                       "no rank was seen past its first call: a job that hangs looks the same",
                       std::string(kCalls)});
  std::set<int> cut;
  for (const Alignment& alignment : view.alignments)
    for (const std::size_t member : alignment.unaligned) cut.insert(view.worker_of(member).rank);
  cut.erase(-1);
  if (!cut.empty())
    missing.push_back({fmt::format("whole NCCL log of rank {}", ranges(cut)),
                       "it begins in mid-run or comes in parts, so it is not known where the rank "
                       "stands",
                       std::string(kCalls)});
  return missing;
}

std::vector<MissingEvidence> ask_for_processes(const View& view,
                                               const std::vector<Finding>& unexplained) {
  constexpr std::size_t kMostNamed = 4;  // findings
  std::vector<MissingEvidence> missing;
  for (const Finding& finding : unexplained) {
    if (missing.size() == kMostNamed) break;
    if (finding.cause == Cause::collective_stalled)
      missing.push_back(
          {"stack of every rank, and all that its process printed (NCCL log and stderr)",
           "all ranks of the communicator entered the call, and nothing says why none left it",
           completed_command(kStack, {}), "", "", EvidenceKind::stacks, everywhere(view)});
    if (!stands_itself(finding)) continue;
    const std::vector<int>& ranks = finding.subject.ranks;
    missing.push_back(
        {fmt::format("stack of {}{}, and all that its process printed (NCCL log and stderr)",
                     ranks.empty() ? std::string("the stopped process")
                                   : fmt::format("rank {}", ranges(ranks)),
                     finding.subject.hosts.empty()
                         ? std::string()
                         : fmt::format(" on {}", fmt::join(finding.subject.hosts, ", "))),
         "it stopped there and nothing says why",
         completed_command(kStack, advice_subject(view, finding.subject)), "", "",
         EvidenceKind::stacks,
         finding.subject.hosts.empty() ? everywhere(view) : finding.subject.hosts, ranks});
  }
  ask_ncclras(view, unexplained, missing);
  return missing;
}

}  // namespace faultline
