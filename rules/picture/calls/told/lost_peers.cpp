// Ranks that say that a peer closed its connection, or that they waited in vain. Who closes first
// has nobody to complain of: where all but one of the ranks say so, it is the one.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/signatures.h"
#include "rules/picture/calls/told/adapters.h"
#include "rules/picture/who/source_speakers.h"

namespace faultline {
namespace {

// What the ranks say of their end.
struct Complaints {
  std::map<int, const LineRef*> lost;  // who lost a peer, and the first line that says so
  std::set<int> other;                 // who says something else of it
  std::size_t nameless = 0;            // processes that lost one, and do not tell their rank
  bool unclear = false;                // somebody names a reason, or does not say who it is

  void lose(int rank, const LineRef& line) {
    const auto [known, is_new] = lost.try_emplace(rank, &line);
    if (!is_new && said_order(line, *known->second) == Order::before) known->second = &line;
  }
};

bool is_of_a_lost_peer(const MessageSignature& signature) {
  return signature.blames == Blames::peer && signature.weight != Weight::harmless;
}

void hear_torch(const View& view, const TorchCrew& crew, const SourceSpeakers& speakers,
                Complaints& told) {
  std::set<std::uint32_t> labelled;  // sources in which a label says who lost a peer
  std::set<std::uint32_t> nameless;
  for (const TorchRank* rank : crew.ranks()) {
    const int labelled_rank = rank->guessed ? -1 : rank->rank;
    if (!rank->timeouts.empty() || rank->signalled || rank->stuck) {
      told.unclear |= labelled_rank < 0;
      told.other.insert(labelled_rank);
    }
    for (const TorchSaying& saying : rank->said) {
      if (!crew.in_attempt(saying.line)) continue;
      const int who = labelled_rank >= 0 ? labelled_rank : speakers.rank_of(saying.line);
      const auto match =
          view.catalog.signatures->match(Remark{.dialect = "torch", .text = saying.text});
      if (match && match->signature->weight == Weight::harmless) continue;
      const bool is_loss = match && is_of_a_lost_peer(*match->signature);
      // What nobody knows may be the reason; so may what is known to be one.
      if (!is_loss)
        told.unclear |=
            match ? match->signature->weight == Weight::cause : saying.exception.has_value();
      if (who < 0) {
        if (is_loss) nameless.insert(saying.line.source);
        continue;
      }
      if (labelled_rank >= 0) labelled.insert(saying.line.source);
      if (is_loss)
        told.lose(who, saying.line);
      else if (match || saying.exception)
        told.other.insert(who);
    }
  }
  // A long message has its label on the first of its lines alone.
  told.unclear |= !std::ranges::includes(labelled, nameless);
}

int rank_of(const View& view, const SourceSpeakers& speakers, const RemarkingProcess& process) {
  for (const Worker& worker : view.workers.all)
    if (worker.process == process.process && worker.rank >= 0) return worker.rank;
  if (process.launcher_rank >= 0 || process.said.empty()) return process.launcher_rank;
  return speakers.rank_of(process.said.front().first);
}

void hear_nccl(const View& view, const SourceSpeakers& speakers, Complaints& told) {
  for (const RemarkingProcess& process : view.job.remarks().processes()) {
    if (!view.in_attempt(process.process)) continue;
    const int rank = rank_of(view, speakers, process);
    bool lost = false;
    bool other = process.endings.aborted.has_value();
    for (const SaidRemark& said : process.said) {
      if (!said.warns()) continue;
      const auto match = view.catalog.signatures->match(said.remark);
      if (match && match->signature->weight == Weight::harmless) continue;
      const bool is_loss = match && is_of_a_lost_peer(*match->signature);
      if (is_loss && rank >= 0) told.lose(rank, said.first);
      (is_loss ? lost : other) = true;
    }
    if (rank >= 0) {
      if (other) told.other.insert(rank);
    } else if (lost && !other) {
      // Without a pid it is what PyTorch quotes of one that is counted.
      if (process.process.pid != 0) ++told.nameless;
    } else {
      told.unclear |= other;
    }
  }
}

// Whose process a launcher saw ending is known by that.
void hear_launchers(const View& view, const TorchCrew& crew, Complaints& told) {
  for (const auto& exit : view.job.torch().exits())
    if (crew.in_attempt(exit.line))
      told.other.insert(exit.fact.ranks.begin(), exit.fact.ranks.end());
}

// Who is left when all the others say that they lost a peer, or were taken down. Who closes first
// may say nothing, and its log may be the one that was not sent; of two such ranks none is named.
std::optional<int> only_silent(const TorchCrew& crew, const Complaints& told) {
  const std::set<int>& world = crew.world();
  std::optional<int> silent;
  for (const int rank : world) {
    if (told.lost.contains(rank) || told.other.contains(rank)) continue;
    if (silent) return std::nullopt;
    silent = rank;
  }
  if (!silent || *world.begin() != 0 || *world.rbegin() + 1 != std::ssize(world) ||
      (crew.expected() == 0 && !crew.would_be_heard(*silent)))
    return std::nullopt;
  // Of two ranks that are all of the job each is the peer of the other.
  const std::size_t least = crew.expected() == 2 ? 1 : 2;
  // The nameless are among those that are named.
  const bool all_named = told.nameless <= told.lost.size();
  return all_named && told.lost.size() >= least && 2 * told.lost.size() >= world.size() - 1
             ? silent
             : std::nullopt;
}

}  // namespace

ProgressTable table_of_lost_peers(const View& view, const TorchCrew& crew) {
  ProgressTable table = table_of_ranks(crew);
  Complaints told;
  const SourceSpeakers speakers(view);
  hear_torch(view, crew, speakers, told);
  hear_nccl(view, speakers, told);
  hear_launchers(view, crew, told);
  if (told.unclear) return table;
  const std::optional<int> silent = only_silent(crew, told);
  if (!silent) return table;
  ProgressRow& row = table.rows.emplace_back();
  row.is_loss = true;
  for (const auto& [rank, line] : told.lost) {
    row.members[rank] = {.how_far = HowFar::entered, .lines = {line}};
    if (row.line == nullptr || said_order(*line, *row.line) == Order::before) row.line = line;
  }
  for (const int rank : told.other) row.members[rank].how_far = HowFar::entered;
  row.members[*silent].how_far = HowFar::not_entered;
  row.since = row.line->time;
  const std::string others =
      told.lost.size() == 1
          ? std::string("the other one lost its connection to it")
          : fmt::format("{} others lost their connections to a peer", told.lost.size());
  row.behind = {
      fmt::format("{}, and {}: it stopped or left first",
                  crew.would_be_heard(*silent) ? "says nothing of an end" : "has sent no log",
                  others),
      Claim::lost_and_silent};
  return table;
}

}  // namespace faultline
