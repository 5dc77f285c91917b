#include "rules/detect/stall.h"

#include <fmt/format.h>

#include <iterator>

#include "rules/detect/stacks.h"
#include "rules/detect/torch/word_of_end.h"
#include "rules/knowledge/ground_names.h"
#include "rules/picture/calls/told/adapters.h"

namespace faultline {
namespace {

Cause cause_of(const Stall& stall) {
  switch (stall.kind) {
    case Stall::Kind::ahead:
      return Cause::software_collective_skipped;
    case Stall::Kind::all_entered:
      return Cause::collective_stalled;
    case Stall::Kind::differs:
      return Cause::software_collective_mismatch;
    case Stall::Kind::behind:
      break;
  }
  const ProgressRow& row = *stall.rows.front();
  if (row.at_start) return Cause::launch_rank_missing;
  if (row.is_loss) return Cause::network_peer_lost;
  if (row.is_leave) return Cause::software_collective_skipped;
  return row.is_pulse ? Cause::process_silent : Cause::collective_rank_behind;
}

std::string title_of_stall(const ProgressTable& table, const Stall& stall) {
  const ProgressRow& row = *stall.rows.front();
  const Telling& telling = stall.telling();
  std::string title = telling.words;
  if (!telling.whole)
    title = fmt::format("{} {}",
                        stall.who.empty() ? fmt::format("{} ranks that are not named", row.unnamed)
                                          : table.names(stall.who),
                        telling.words);
  if (!row.communicator.empty() && stall.rows.size() > 1)
    title += fmt::format(" ({} communicators in all)", stall.rows.size());
  if (row.is_part) title += "; others may be missing, too";
  return title;
}

void add_first_line(const View& view, const LineRef* line, Finding& finding) {
  if (line == nullptr || !line->known() || finding.evidence.size() >= kMostLines) return;
  Evidence evidence = view.evidence(*line);
  if (std::ranges::find(finding.evidence, evidence) == finding.evidence.end())
    finding.evidence.push_back(std::move(evidence));
}

// Adds what else is known of one of the ranks, and what it does if somebody dumped its stack.
void add_asides(const View& view, const Stall& stall, Finding& finding) {
  for (const int member : stall.who) {
    const auto known = stall.rows.front()->members.find(member);
    if (known == stall.rows.front()->members.end() || known->second.aside.empty()) continue;
    finding.title += fmt::format("; {}", known->second.aside);
    if (!known->second.lines.empty()) add_first_line(view, known->second.lines.front(), finding);
    break;
  }
  if (stall.kind == Stall::Kind::behind) add_what_it_does(view, finding);
}

// Adds lines of the ranks that the stall names, and one of a rank that is in the call.
void add_lines_of_stall(const View& view, const Stall& stall, Finding& finding) {
  const ProgressRow& row = *stall.rows.front();
  const LineRef* other = row.line;
  for (const auto& [member, came] : row.members) {
    if (came.lines.empty()) continue;
    if (stall.who.empty() || stall.who.contains(member)) {
      for (const LineRef* line : came.lines)
        if (finding.evidence.size() + 1 < kMostLines) add_first_line(view, line, finding);
    } else if (other == nullptr &&
               (came.how_far == HowFar::entered || came.how_far == HowFar::started)) {
      other = came.lines.front();
    }
  }
  add_first_line(view, other, finding);
}

// The lines of its peers only say that the rank is gone.
std::vector<Action> to_learn_why_it_left() {
  return {{"Read the last lines of the log of rank {rank}: they say what ended it; after a kill "
           "they say nothing.",
           "{host}", "tail -n 100 {log}"},
          {"Read the kernel log of its host around that time: an OOM kill, an Xid, a panic.",
           "{host}", "dmesg -T | tail -n 200"}};
}

// The rank did not fail: its program was done.
std::vector<Action> to_learn_why_it_ended() {
  return {
      {"Read the last lines of the log of rank {rank}, and look for what ends its loop but not its "
       "peers' loops: fewer batches, an early stop, a return or an exit of this rank alone.",
       "{host}", "tail -n 100 {log}"}};
}

// It came to the call and did not get through, so what its Python does is not the question.
std::vector<Action> to_learn_what_holds_it() {
  return {{"Read the kernel log of its host around that time: an Xid, a link or a NIC that failed.",
           "{host}", "dmesg -T | tail -n 200"},
          {"See what its GPU does: at full use without power it waits for data of its peers.",
           "{host}", "nvidia-smi; nvidia-smi nvlink -e"},
          {"Compare the network and the paths that NCCL chose on its host with those on others "
           "(lines with NET/ and via); one run over another path, as with NCCL_NET_GDR_LEVEL=LOC "
           "or NCCL_P2P_DISABLE=1, shows whether the path is at fault.",
           "{host}", ""}};
}

Suspicion describe_stall(const View& view, const ProgressTable& table, const Stall& stall) {
  const ProgressRow& row = *stall.rows.front();
  Suspicion suspicion = hang(cause_of(stall), stall.telling().sure, row.since);
  suspicion.stops_job = stall.kind != Stall::Kind::differs;
  if (row.is_loss) suspicion.verdict = Verdict::failed;
  Finding& finding = suspicion.finding;
  finding.title = title_of_stall(table, stall);
  if (stall.circular) suspicion.sure.add(Ground::waits_in_a_circle);
  if (!stall.who.empty())
    finding.subject = table.subject(stall.who);
  else if (stall.kind == Stall::Kind::behind)
    suspicion.sure.add(Ground::not_named);
  if (!row.communicator.empty()) {
    finding.subject.communicators.clear();
    for (const ProgressRow* each : stall.rows)
      finding.subject.communicators.push_back(each->communicator);
  } else if (stall.who.empty() && !row.group.empty()) {
    finding.subject.communicators = {row.group};
  }
  add_asides(view, stall, finding);
  add_lines_of_stall(view, stall, finding);
  if (stall.kind == Stall::Kind::behind && !row.called_at.empty())
    finding.actions.push_back(
        {fmt::format("See what keeps it from this place in the program, where its peers are: {}",
                     row.called_at),
         "", ""});
  if (row.is_loss) finding.actions = to_learn_why_it_left();
  if (row.is_leave) finding.actions = to_learn_why_it_ended();
  // A stack shows better what a rank does.
  if (row.is_held && stall.kind == Stall::Kind::behind && view.job.torch().stacks().empty())
    finding.actions = to_learn_what_holds_it();
  return suspicion;
}

}  // namespace

std::vector<Suspicion> find_stalls_in(const View& view, const ProgressTable& table) {
  std::vector<Suspicion> found;
  std::size_t late = 0;
  const std::vector<Stall> stalls = stalls_of(table);
  for (const Stall& stall : stalls) late += stall.kind == Stall::Kind::behind ? 1 : 0;
  for (const Stall& stall : stalls) {
    found.push_back(describe_stall(view, table, stall));
    if (late > 1 && stall.kind == Stall::Kind::behind && !stall.rows.front()->communicator.empty())
      found.back().sure.add(Ground::late_here_and_there);
  }
  return found;
}

std::vector<Suspicion> find_stalls(const View& view) {
  std::vector<Suspicion> found;
  const TorchCrew& crew = view.crew();
  const LineRef* step = last_step(view);
  for (auto* witness :
       {table_of_barriers, table_of_desync, table_of_fr_report, table_of_gloo, table_of_horovod,
        table_of_jax_barriers, table_of_jax_heartbeats, table_of_lost_peers, table_of_ras,
        table_of_store_barriers, table_of_store_waits}) {
    ProgressTable table = witness(view, crew);
    std::erase_if(table.rows, [&](const ProgressRow& row) {
      return row.line != nullptr && trained_on(step, *row.line);
    });
    std::ranges::move(find_stalls_in(view, table), std::back_inserter(found));
  }
  return found;
}

}  // namespace faultline
