#include "rules/detect/torch/caught.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "rules/detect/performance/training.h"
#include "rules/detect/torch/word_of_end.h"
#include "rules/picture/read/sayings.h"

namespace faultline {
namespace {

// More lines than a launcher and the last words of peers print below what ended a process.
constexpr std::uint64_t kMostLinesBelow = 200;
// Apart in time as the ranks of a job do not raise the same thing.
constexpr std::int64_t kApartUs = 60'000'000;
// From the last step to the limit, where the job worked until then.
constexpr double kMostSteps = 3;
constexpr double kLeastSeconds = 60;

std::uint64_t last_line_of(const TorchSaying& saying) {
  const auto& lines = saying.exception->lines;
  return lines.empty() ? saying.line.line : std::max(saying.line.line, lines.back().line);
}

// "[INFO:trainer] Traceback (most recent call last):": the program itself says that it is no error.
bool is_logged_as_no_error(const TorchSaying& saying) {
  constexpr std::array<std::string_view, 4> kLevels = {"INFO", "WARNING", "WARN", "DEBUG"};
  if (saying.exception->lines.empty()) return false;
  const std::string_view first = saying.exception->lines.front().text;
  const std::string_view before = first.substr(0, first.find("Traceback (most recent call last)"));
  const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  return before.size() < first.size() &&
         std::ranges::any_of(
             kLevels,
             [&](std::string_view level) {
               const std::size_t at = before.rfind(level);
               const std::size_t end = at + level.size();
               return at != before.npos && (at == 0 || !is_letter(before[at - 1])) &&
                      (end == before.size() || !is_letter(before[end]));
             });
}

// When a limit ended the job, which follows from nothing that was raised.
std::optional<Timestamp> ended_at_a_limit(const View& view, const TorchCrew& crew) {
  for (const TorchRank* rank : crew.ranks())
    for (const TorchSaying& saying : rank->said) {
      if (saying.exception || !crew.in_attempt(saying.line)) continue;
      const auto match = meaning_of(view, saying);
      if (!match || match->signature->marks != Marks::ended_at_a_limit) continue;
      if (const auto dated = view.job.dated(saying.line).wall()) return dated;
      if (const auto at = match->fields.find("at"); at != match->fields.end())
        return parse_rfc3339(at->second);
    }
  return std::nullopt;
}

bool worked_until(const View& view, Timestamp end) {
  const auto training = training_of(view);
  if (!training || training->line == nullptr) return false;
  const auto step = view.job.dated(*training->line).wall();
  if (!step) return false;
  const double most = std::max(kLeastSeconds, kMostSteps * training->usual);
  const double apart = std::chrono::duration<double>(end - *step).count();
  return apart <= most && apart >= -kLeastSeconds;
}

bool ended_badly(const ProcessExit& exit) {
  return !exit.told_to && (exit.signal || exit.exit_code.value_or(1) != 0);
}

}  // namespace

CaughtExceptions::CaughtExceptions(const View& view, const TorchCrew& crew,
                                   const SourceSpeakers& speakers)
    : view_(view), speakers_(speakers), step_(last_step(view)) {
  ended_well_ = word_of_its_end(view) != nullptr;
  const auto limit = ended_at_a_limit(view, crew);
  worked_until_its_limit_ = limit && worked_until(view, *limit);
  somebody_failed_ = std::ranges::any_of(view.job.torch().exits(), [&](const auto& exit) {
    return crew.in_attempt(exit.line) && ended_badly(exit.fact);
  });
}

bool CaughtExceptions::was_caught(int rank, const TorchSaying& saying) const {
  if (speakers_.went_on(rank, saying.line) || worked_until_its_limit_) return true;
  return ended_well_ && trained_on(step_, saying.line);
}

bool CaughtExceptions::may_have_been_caught(const TorchSaying& saying) const {
  if (!saying.exception) return false;
  if (is_logged_as_no_error(saying) || trained_on(step_, saying.line)) return true;
  const auto& first = saying.line.time.wall_us;
  const auto& last = saying.last.time.wall_us;
  if (first && last && *last - *first > kApartUs) return true;
  return view_.job.sources().at(saying.line.source).lines > last_line_of(saying) + kMostLinesBelow;
}

}  // namespace faultline
