// Exceptions of ranks that waited for their peers in vain: gloo's in a collective; NCCL's before
// the first collective, when one rank sends the others what they need to connect.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "model/ranks.h"
#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/signatures.h"
#include "rules/picture/calls/told/adapters.h"
#include "rules/picture/read/sayings.h"

namespace faultline {
namespace {

struct Wait {
  int rank = -1;
  const TorchSaying* saying = nullptr;
  SignatureMatch match;
};

// Exceptions that match the signature with this id.
std::vector<Wait> raised(const View& view, const TorchCrew& crew, std::string_view id) {
  std::vector<Wait> waits;
  for (const TorchRank* rank : crew.ranks())
    for (const TorchSaying& saying : rank->said) {
      if (!saying.exception || rank->guessed || !crew.in_attempt(saying.line)) continue;
      auto match = meaning_of(view, saying);
      if (match && match->signature->id == id)
        waits.push_back({.rank = rank->rank, .saying = &saying, .match = std::move(*match)});
    }
  return waits;
}

const LineRef& first_line(const std::vector<Wait>& waits) {
  const LineRef* first = &waits.front().saying->line;
  for (const Wait& wait : waits)
    if (said_order(wait.saying->line, *first) == Order::before) first = &wait.saying->line;
  return *first;
}

// Exceptions of one collective are raised within a minute.
bool are_of_one_moment(const std::vector<Wait>& waits) {
  constexpr std::int64_t kLongestUs = 60'000'000;
  const EventTime& first = first_line(waits).time;
  return std::ranges::all_of(waits, [&](const Wait& wait) {
    const EventTime& time = wait.saying->line.time;
    return !first.wall_us || !time.wall_us || *time.wall_us - *first.wall_us <= kLongestUs;
  });
}

void add_waiting(const std::vector<Wait>& waits, ProgressRow& row) {
  for (const Wait& wait : waits)
    row.members.try_emplace(wait.rank,
                            Came{.how_far = HowFar::entered, .lines = {&wait.saying->line}});
  row.line = &first_line(waits);
  row.since = row.line->time;
}

bool has_no_rank(const Wait& wait) { return wait.rank < 0; }

// Rank 0 keeps the job's store, and says how many ranks came to it. Ranks that wait for rank 0
// therefore wait for the rank that is missing at the store. nullopt if the counts leave more than
// one.
std::optional<int> missing_at_store(const Wait& keeper, const std::vector<Wait>& behind) {
  const int wanted = number_of(keeper.match, "wanted");
  if (wanted <= 1 || wanted > kMaxRanks || number_of(keeper.match, "joined") != wanted - 1)
    return std::nullopt;
  std::set<int> came{0};
  for (const Wait& wait : behind) came.insert(wait.rank);
  if (static_cast<int>(came.size()) != wanted - 1 || *came.rbegin() >= wanted) return std::nullopt;
  int missing = 0;
  while (came.contains(missing)) ++missing;
  return missing;
}

// Training steps that are printed later show that another start succeeded.
bool trained_after(const View& view, const LineRef& line) {
  return std::ranges::any_of(view.job.parts().records(), [&](const PartRecord& record) {
    const PartSeries* steps =
        record.kind == "training" ? view.job.parts().find(record, "step") : nullptr;
    if (steps == nullptr) return false;
    const LineRef& last = *steps->last().line;
    return last.source == line.source ? last.line > line.line
                                      : order_of(line.time, last.time, false) == Order::before;
  });
}

void add_missing_at_store(const Wait& keeper, const std::vector<Wait>& behind,
                          ProgressTable& table) {
  const auto missing = missing_at_store(keeper, behind);
  if (!missing) return;
  std::vector<Wait> waiting = behind;
  waiting.push_back({.rank = 0, .saying = keeper.saying, .match = keeper.match});
  ProgressRow& row = table.rows.emplace_back();
  add_waiting(waiting, row);
  row.members[*missing] = {.how_far = HowFar::not_entered, .lines = {}};
  row.at_start = true;
  row.behind = {
      fmt::format("did not come to the store, where the other {} ranks waited", waiting.size()),
      Claim::store_wait};
}

}  // namespace

// Ranks that waited for peers in vain say so, and ranks whose peer had gone say that. The one rank
// that says neither is the awaited one, unless it belongs to another group.
ProgressTable table_of_gloo(const View& view, const TorchCrew& crew) {
  ProgressTable table = table_of_ranks(crew);
  const std::vector<Wait> waits = raised(view, crew, "torch.wait_timed_out.gloo");
  if (waits.empty() || std::ranges::any_of(waits, has_no_rank) || !are_of_one_moment(waits))
    return table;
  std::set<int> waiting;
  for (const Wait& wait : waits) waiting.insert(wait.rank);
  std::set<int> absent;
  for (const int rank : crew.world())
    if (!waiting.contains(rank) && crew.would_be_heard(rank)) absent.insert(rank);
  for (const TorchRank* rank : crew.ranks())
    if (!rank->said.empty() || !rank->timeouts.empty()) absent.erase(rank->rank);
  if (waiting.size() < 2 || absent.size() != 1) return table;
  ProgressRow& row = table.rows.emplace_back();
  add_waiting(waits, row);
  row.members[*absent.begin()] = {.how_far = HowFar::not_entered, .lines = {}};
  row.behind = {fmt::format("did not come to a collective of gloo, in which {} ranks waited in "
                            "vain, if it belongs to their group",
                            waiting.size()),
                Claim::gloo_silent};
  return table;
}

// "from [0]" is a rank in the group. It is rank 0 of the job if the group is the whole job: each
// waiting rank's place in the group is then its rank in the job.
ProgressTable table_of_store_waits(const View& view, const TorchCrew& crew) {
  ProgressTable table = table_of_ranks(crew);
  std::vector<Wait> waits;
  for (Wait& wait : raised(view, crew, "torch.wait_timed_out.communicator")) {
    if (wait.rank <= 0 || wait.match.fields["place"] != fmt::to_string(wait.rank)) return table;
    waits.push_back(std::move(wait));
  }
  if (waits.empty() || trained_after(view, first_line(waits))) return table;
  for (const Wait& keeper : raised(view, crew, "torch.clients_missing")) {
    if (keeper.rank > 0) continue;
    if (!trained_after(view, keeper.saying->line)) add_missing_at_store(keeper, waits, table);
    return table;
  }
  ProgressRow& row = table.rows.emplace_back();
  add_waiting(waits, row);
  row.members[0] = {.how_far = HowFar::not_entered, .lines = {}};
  row.at_start = true;
  row.behind = {fmt::format("did not begin the communicator that {} {} for", row.members.size() - 1,
                            row.members.size() == 2 ? "rank waited" : "ranks waited"),
                Claim::store_wait};
  return table;
}

}  // namespace faultline
