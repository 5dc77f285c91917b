// Exceptions of ranks that waited for their peers and got nothing: gloo's in a collective, NCCL's
// before the first one, when a rank sends the others what they need to come together.
#include <fmt/format.h>

#include <charconv>

#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/signatures.h"
#include "rules/picture/calls/told/adapters.h"

namespace faultline {
namespace {

struct Wait {
  int rank = -1;
  const TorchSaying* saying = nullptr;
  SignatureMatch match;
};

// What ranks say that the signature of this id knows.
std::vector<Wait> said_by_ranks(const View& view, const TorchCrew& crew, std::string_view id) {
  std::vector<Wait> waits;
  for (const TorchRank* rank : crew.ranks())
    for (const TorchSaying& saying : rank->said) {
      if (rank->rank < 0 || rank->guessed || !crew.in_attempt(saying.line)) continue;
      auto match = view.catalog.signatures->match(Remark{.dialect = "torch", .text = saying.text});
      if (match && match->signature->id == id)
        waits.push_back({.rank = rank->rank, .saying = &saying, .match = std::move(*match)});
    }
  return waits;
}

void add_waiting(const std::vector<Wait>& waits, ProgressRow& row) {
  for (const Wait& wait : waits)
    row.members.try_emplace(wait.rank,
                            Came{.how_far = HowFar::entered, .lines = {&wait.saying->line}});
}

}  // namespace

// Who waits for its peers in vain says so, and who met a peer that had gone says that. Who is left
// is who they waited for, unless half of the ranks are.
ProgressTable table_of_gloo(const View& view, const TorchCrew& crew) {
  ProgressTable table = table_of_ranks(crew);
  const std::vector<Wait> waits = said_by_ranks(view, crew, "torch.wait_timed_out.gloo");
  std::set<int> waiting;
  for (const Wait& wait : waits) waiting.insert(wait.rank);
  if (waiting.size() < 2) return table;
  std::set<int> absent;
  for (const int rank : crew.world())
    if (!waiting.contains(rank) && crew.would_be_heard(rank)) absent.insert(rank);
  for (const TorchRank* rank : crew.ranks())
    if (!rank->said.empty()) absent.erase(rank->rank);
  if (absent.empty() || absent.size() * 2 > waiting.size()) return table;
  ProgressRow& row = table.rows.emplace_back();
  add_waiting(waits, row);
  for (const int rank : absent) row.members[rank] = {.how_far = HowFar::not_entered, .lines = {}};
  row.since = waits.front().saying->line.time;
  row.behind = {
      fmt::format("did not come to a collective of gloo, in which {} ranks waited in vain",
                  waiting.size()),
      Claim::timeout_silent};
  return table;
}

ProgressTable table_of_store_waits(const View& view, const TorchCrew& crew) {
  ProgressTable table = table_of_ranks(crew);
  std::map<int, std::vector<Wait>> by_root;
  for (Wait& wait : said_by_ranks(view, crew, "torch.wait_timed_out.communicator")) {
    const std::string& text = wait.match.fields["root"];
    int root = -1;
    std::from_chars(text.data(), text.data() + text.size(), root);
    if (root >= 0) by_root[root].push_back(std::move(wait));
  }
  for (const auto& [root, waits] : by_root) {
    ProgressRow& row = table.rows.emplace_back();
    add_waiting(waits, row);
    row.members[root] = {.how_far = HowFar::not_entered, .lines = {}};
    row.at_start = true;
    row.since = waits.front().saying->line.time;
    row.behind = {
        fmt::format("did not begin the communicator that {} {} for", row.members.size() - 1,
                    row.members.size() == 2 ? "rank waited" : "ranks waited"),
        Claim::store_wait};
  }
  return table;
}

}  // namespace faultline
