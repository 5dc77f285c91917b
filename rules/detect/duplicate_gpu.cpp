#include "rules/detect/duplicate_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "model/path_names.h"
#include "rules/knowledge/ground_names.h"
#include "rules/state/sources.h"

namespace faultline {
namespace {

// NCCL did not refuse a communicator that was set up or used.
bool was_set_up(const Member& member) {
  return member.complete || member.first_op_count || member.left_cleanly();
}

// Ranks that have a log.
std::set<int> ranks_with_logs(const View& view) {
  std::set<int> ranks = view.roll.heard;
  for (const SourceState& state : view.job.sources().all())
    if (const int rank = rank_by_file_name(state.source.name).rank; rank >= 0) ranks.insert(rank);
  return ranks;
}

// NCCL compares GPUs when all ranks have joined. If a rank with a log has not, the others wait for
// it.
bool waits_for_a_rank(const View& view, const Communicator& communicator,
                      const std::set<int>& with_logs) {
  // If a communicator has only some of the ranks, no line says which others belong to it.
  if (std::cmp_greater(with_logs.size(), communicator.nranks) ||
      !std::cmp_less(communicator.members.size(), communicator.nranks))
    return false;
  std::set<int> joined;
  for (const std::size_t index : communicator.members) {
    joined.insert(view.worker_of(index).rank);
    if (const auto& init = view.member(index).init) joined.insert(init->rank);
  }
  std::erase_if(joined, [&](int rank) { return !with_logs.contains(rank); });
  return joined.size() < with_logs.size();
}

Suspicion describe_duplicate(const View& view, const Communicator& communicator,
                             const std::vector<std::size_t>& members) {
  const Member& any = view.member(members.front());
  Suspicion suspicion;
  suspicion.verdict = Verdict::failed;
  suspicion.since = any.init_line.time;
  Finding& finding = suspicion.finding;
  finding.cause = Cause::software_invalid_usage;
  finding.title =
      fmt::format("{} of communicator {} use one GPU, {}: NCCL allows each GPU only once",
                  people_of(view, members), communicator.id, gpu_name(any.host, any.init->gpu));
  finding.severity = Severity::critical;
  suspicion.sure = Claim::gpu_used_twice;
  finding.subject = subject_of(view, members);
  finding.subject.communicators = {communicator.id};
  for (std::size_t member : members)
    if (finding.evidence.size() < kMostLines)
      finding.evidence.push_back(view.evidence(view.member(member).init_line));
  return suspicion;
}

}  // namespace

std::vector<Suspicion> find_duplicate_gpus(const View& view) {
  std::vector<Suspicion> found;
  const std::set<int> with_logs = ranks_with_logs(view);
  for (const Communicator& communicator : view.communicators) {
    if (!communicator.matched || communicator.nranks < 2 ||
        waits_for_a_rank(view, communicator, with_logs))
      continue;
    if (std::ranges::any_of(communicator.members,
                            [&](std::size_t index) { return was_set_up(view.member(index)); }))
      continue;
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<std::size_t>> by_gpu;
    for (std::size_t index : communicator.members) {
      const Member& member = view.member(index);
      if (member.init && !member.init->gpu.empty() && !member.host.empty() &&
          view.in_attempt(member.process))
        by_gpu[{member.host, member.sender_host, member.init->gpu}].push_back(index);
    }
    for (const auto& [gpu, members] : by_gpu)
      if (members.size() > 1) found.push_back(describe_duplicate(view, communicator, members));
  }
  return found;
}

}  // namespace faultline
