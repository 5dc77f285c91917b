#include "rules/answer/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "rules/answer/coverage.h"
#include "rules/answer/coverage_performance.h"
#include "rules/answer/coverage_ranks.h"
#include "rules/answer/shown_text.h"
#include "rules/answer/training_progress.h"
#include "rules/detect/performance/training.h"
#include "rules/detect/placed.h"
#include "rules/detect/torch/word_of_end.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {
namespace {

// Lines of a rank were seen: a file that is named after one is not enough.
bool a_rank_spoke(const View& view) {
  return tells_of_a_job(view) || !view.job.flight().dumps().empty();
}

// The launcher says so of exactly as many processes as this attempt has ranks, and no training step
// follows.
bool all_ended_well(const View& view) {
  const SourceAttempts attempts(view);
  const LineRef* step = last_step(view);
  std::set<std::pair<std::uint32_t, std::int64_t>> ended;  // by source and pid
  for (const auto& exit : view.job.torch().exits()) {
    if (!attempts.in_attempt(exit.line)) continue;
    if (exit.fact.exit_code != 0 || exit.fact.signal ||
        (step != nullptr && said_order(exit.line, *step) == Order::before))
      return false;
    ended.emplace(exit.line.source, exit.fact.pid);
  }
  return view.roll.expected > 0 && std::ssize(ended) == view.roll.expected;
}

// Some member began to set up its communicator and never finished.
bool somebody_stands(const View& view) {
  return std::ranges::any_of(view.members, [&](std::size_t index) {
    return began_and_never_finished(view.member(index));
  });
}

// A line that no rule reads says that something ended or broke.
bool something_may_have_ended(const View& view) {
  return std::ranges::any_of(view.job.unread_lines().all(), [](const auto& entry) {
    return entry.second.tells == TroubleKind::ends;
  });
}

}  // namespace

bool enough_to_call_healthy(const View& view) {
  if (!tests_without_end(view).empty() || somebody_stands(view) || !view.job.left_out().empty())
    return false;
  if (all_ended_well(view) || training_ended(view) || word_of_its_end(view) != nullptr) return true;
  if (!view.roll.all_heard() || not_seen_at_work(view)) return false;
  if (view.members.empty() && !view.hosts_heard.empty()) return false;  // they never got to work
  if (view.members.empty() && view.job.torch().empty() && has_training(view)) return false;
  if (view.members.empty())
    return (view.roll.seen > 0 && view.roll.expected > 0 && a_rank_spoke(view) &&
            view.job.torch().exits().empty() && !something_may_have_ended(view)) ||
           is_as_fast_as_it_should_be(view);
  return !view.lines_are_missing() && uncompared_members(view) == 0 &&
         broken_off_sources(view).empty();
}

std::string own_word_of_its_end(const View& view) {
  constexpr std::size_t kMostShown = 120;  // bytes
  const LineRef* word = word_of_its_end(view);
  if (word == nullptr) return {};
  const Evidence line = view.evidence(*word);
  return fmt::format("At its end the log says: \"{}\" ({}, line {}).", shown(line.text, kMostShown),
                     line.source, line.line);
}

}  // namespace faultline
