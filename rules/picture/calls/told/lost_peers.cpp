// Ranks that say that a peer closed its connection. The rank that closes first has no such peer, so
// if all ranks but one complain, that one closed first: unless a rank was told to end before, names
// another reason, or cannot be identified.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/signatures.h"
#include "rules/picture/calls/told/adapters.h"
#include "rules/picture/read/closing_peers.h"
#include "rules/picture/read/sayings.h"
#include "rules/picture/who/source_speakers.h"

namespace faultline {
namespace {

class Complaints {
 public:
  Complaints(const View& view, const TorchCrew& crew) : view_(view), crew_(crew), speakers_(view) {
    for (const Worker& worker : view.workers.all)
      if (worker.rank >= 0) ranks_.emplace(worker.process, worker.rank);
    hear_nccl();
    for (const TorchRank* rank : crew.ranks()) hear_rank(*rank);
    if (lost_.empty()) return;
    hear_launchers();
    for (const LineRef* line : of_nobody_) unclear_ |= !is_after(*line);
    for (const LineRef* line : losses_of_nobody_) unclear_ |= !goes_on(*line);
  }

  const std::map<int, const LineRef*>& lost() const { return lost_; }
  const std::set<int>& others() const { return others_; }
  const LineRef& first() const { return *first_; }

  // The one rank that neither complains nor was ended by others. Its log may be missing. nullopt if
  // there are two such ranks.
  std::optional<int> only_silent() const {
    std::set<int> world = crew_.world();
    world.insert(view_.roll.heard.begin(), view_.roll.heard.end());
    std::optional<int> silent;
    for (const int rank : world) {
      if (lost_.contains(rank) || others_.contains(rank)) continue;
      if (silent) return std::nullopt;
      silent = rank;
    }
    if (unclear_ || !silent || *world.begin() != 0 || *world.rbegin() + 1 != std::ssize(world) ||
        (crew_.expected() == 0 && !has_log(*silent)))
      return std::nullopt;
    // In a job of two ranks, each is the peer of the other.
    const std::size_t least = crew_.expected() == 2 ? 1 : 2;
    if (lost_.size() < least || 2 * lost_.size() < world.size() - 1 || says_something(*silent) ||
        (!named_.empty() && !named_.contains(fmt::to_string(*silent))))
      return std::nullopt;
    return silent;
  }

  bool has_log(int rank) const {
    return crew_.would_be_heard(rank) &&
           std::ranges::none_of(view_.job.sources().all(), [&](const SourceState& state) {
             return state.lines == 0 && rank_by_file_name(state.source.name).rank == rank;
           });
  }

 private:
  void lose(int rank, const LineRef& line) {
    const auto [known, is_new] = lost_.try_emplace(rank, &line);
    if (!is_new && said_order(line, *known->second) == Order::before) known->second = &line;
    if (first_ == nullptr || said_order(line, *first_) == Order::before) first_ = &line;
  }

  bool is_after(const LineRef& line) const { return said_order(*first_, line) == Order::before; }

  // Whether the line continues a message whose first line is labelled with its rank.
  bool goes_on(const LineRef& line) const {
    constexpr std::uint64_t kMostLines = 3;
    const auto next = labelled_.lower_bound({line.source, line.line});
    return next != labelled_.begin() && std::prev(next)->first == line.source &&
           line.line - std::prev(next)->second <= kMostLines;
  }

  void hear_rank(const TorchRank& rank) {
    const bool is_labelled = rank.rank >= 0 && !rank.guessed;
    if (!rank.timeouts.empty() || rank.signalled || rank.stuck) {
      unclear_ |= !is_labelled;
      others_.insert(rank.rank);
    }
    for (const TorchSaying& saying : rank.said)
      if (crew_.in_attempt(saying.line))
        hear(saying, is_labelled ? rank.rank : speakers_.rank_of(saying.line));
  }

  void hear(const TorchSaying& saying, int rank) {
    const auto match = meaning_of(view_, saying);
    if (match && match->signature->weight == Weight::harmless) return;
    unclear_ |= match && is_from_outside(match->signature->marks);
    if (match && is_of_a_lost_peer(*match->signature)) {
      name_peer(*match);
      if (rank >= 0) {
        lose(rank, saying.line);
        labelled_.emplace(saying.line.source, saying.line.line);
      } else {
        unclear_ |= saying.exception.has_value();
        losses_of_nobody_.push_back(&saying.line);
      }
      return;
    }
    // An unknown exception may be the reason; so may a known cause.
    unclear_ |= match ? match->signature->weight == Weight::cause : saying.exception.has_value();
    if (rank >= 0)
      others_.insert(rank);
    else if (match)
      of_nobody_.push_back(&saying.line);
  }

  void name_peer(const SignatureMatch& match) {
    const auto peer = match.fields.find("rank_a");
    if (peer != match.fields.end()) named_.insert(peer->second);
  }

  int rank_of_process(const RemarkingProcess& process) const {
    const auto known = ranks_.find(process.process);
    if (known != ranks_.end()) return known->second;
    if (process.launcher_rank >= 0 || process.said.empty()) return process.launcher_rank;
    return speakers_.rank_of(process.said.front().first);
  }

  void hear_nccl() {
    for (const RemarkingProcess& process : view_.job.remarks().processes()) {
      if (!view_.in_attempt(process.process)) continue;
      const int rank = rank_of_process(process);
      if (process.endings.aborted) others_.insert(rank);
      unclear_ |= process.endings.aborted && rank < 0;
      for (const SaidRemark& said : process.said) {
        if (!said.warns()) continue;
        const auto match = view_.catalog.signatures->match(said.remark);
        if (match && match->signature->weight == Weight::harmless) continue;
        // A line without a pid is PyTorch's quotation of NCCL.
        const bool is_quoted = process.process.pid == 0 && rank < 0;
        const bool is_loss = match && is_of_a_lost_peer(*match->signature);
        unclear_ |= rank < 0 && !(is_quoted && is_loss);
        if (is_loss) name_peer(*match);
        if (rank >= 0 && is_loss)
          lose(rank, said.first);
        else if (rank >= 0)
          others_.insert(rank);
      }
    }
  }

  // The launcher explains the end of the ranks that it lists. If it was told to end before any rank
  // lost a peer, the job was ended from outside.
  void hear_launchers() {
    for (const auto& exit : view_.job.torch().exits()) {
      if (!crew_.in_attempt(exit.line)) continue;
      others_.insert(exit.fact.ranks.begin(), exit.fact.ranks.end());
      unclear_ |= exit.fact.told_to && !is_after(exit.line);
    }
  }

  // Whether the rank printed a line that no rule reads, or a training step after the others lost
  // it.
  bool says_something(int rank) const {
    const std::string label = fmt::format("rank {}", rank);
    for (const auto& [form, unread] : view_.job.unread_lines().all()) {
      const std::string& name = view_.job.sources().at(unread.line.source).source.name;
      if (unread.speaker.rank == rank || rank_by_file_name(name).rank == rank ||
          unread.line.text.find(label) != std::string::npos)
        return true;
    }
    for (const PartRecord& record : view_.job.parts().records())
      if (record.kind == "training" && record.name("rank") == fmt::to_string(rank) &&
          is_after(*record.last))
        return true;
    return false;
  }

  const View& view_;
  const TorchCrew& crew_;
  SourceSpeakers speakers_;
  std::map<ProcessKey, int> ranks_;     // from NCCL's lines
  std::map<int, const LineRef*> lost_;  // ranks that lost a peer, and the first line that says so
  std::set<int> others_;                // ranks whose end has another explanation
  std::set<std::string> named_;         // the peers that lines name, as ranks
  // Lines about a lost peer: those with a known rank, by source and line; and those without.
  std::set<std::pair<std::uint32_t, std::uint64_t>> labelled_;
  std::vector<const LineRef*> losses_of_nobody_;
  std::vector<const LineRef*> of_nobody_;  // other lines about an end, without a known rank
  const LineRef* first_ = nullptr;
  bool unclear_ = false;
};

}  // namespace

ProgressTable table_of_lost_peers(const View& view, const TorchCrew& crew) {
  ProgressTable table = table_of_ranks(crew);
  const Complaints told(view, crew);
  const std::optional<int> silent = told.only_silent();
  if (!silent) return table;
  ProgressRow& row = table.rows.emplace_back();
  row.is_loss = true;
  row.line = &told.first();
  row.since = row.line->time;
  for (const auto& [rank, line] : told.lost())
    row.members[rank] = {.how_far = HowFar::entered, .lines = {line}};
  for (const int rank : told.others()) row.members[rank].how_far = HowFar::entered;
  row.members[*silent].how_far = HowFar::not_entered;
  const std::size_t others = told.lost().size();
  row.behind = {
      fmt::format("{}: it stopped or left first",
                  others == 1 ? std::string("is the peer that the only other rank lost")
                  : told.has_log(*silent)
                      ? fmt::format("does not say that it lost a peer, as {} others do", others)
                      : fmt::format("has sent no log, and {} others lost a peer", others)),
      Claim::lost_and_silent};
  row.behind.sure.add(Ground::by_exclusion);
  return table;
}

}  // namespace faultline
