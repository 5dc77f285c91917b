#include "rules/detect/torch/caught.h"
#include "rules/picture/read/exceptions.h"

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

// Output that an ended process still had in its buffer appears below its last error: at most one
// buffer. What its peers still print is less.
constexpr std::uint64_t kBufferBytes = 10 << 10;
constexpr std::uint64_t kSurelyTrainedOn = 4;  // such buffers
// At most so many lines of a launcher and a script follow what ended a process.
constexpr std::uint64_t kLinesOfAnEnd = 20;
// The longest time from the last step to the limit for a job that worked until then.
constexpr double kMostSteps = 1.5;
constexpr double kLeastSeconds = 60;

// Files of Python itself tell nothing, and PyTorch may come as a package of the system.
bool is_file_of_the_system(std::string_view file) {
  constexpr std::array<std::string_view, 4> kFolders = {"/usr/share/", "/usr/libexec/", "/usr/bin/",
                                                        "/usr/sbin/"};
  if (file.find("/torch/") != file.npos || file.ends_with("/torchrun")) return false;
  const bool is_package =
      (file.starts_with("/usr/lib/python") || file.starts_with("/usr/lib64/")) &&
      (file.find("/dist-packages/") != file.npos || file.find("/site-packages/") != file.npos);
  return is_package || std::ranges::any_of(kFolders, [&](std::string_view folder) {
           return file.starts_with(folder);
         });
}

// The file of the frame that the line shows; empty: it shows none.
std::string_view file_of_frame(std::string_view line) {
  constexpr std::string_view kFile = "File \"";
  const std::size_t at = line.find(kFile);
  if (at == line.npos) return {};
  line.remove_prefix(at + kFile.size());
  return line.substr(0, line.find('"'));
}

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
  if (before.size() == first.size()) return false;
  const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  return std::ranges::any_of(kLevels, [&](std::string_view level) {
    const std::size_t at = before.rfind(level);
    const std::size_t end = at + level.size();
    return at != before.npos && (at == 0 || !is_letter(before[at - 1])) &&
           (end == before.size() || !is_letter(before[end]));
  });
}

// When a limit ended the job: then no exception did. nullopt: no limit did.
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

// Whether something other than an exception ended the job: a signal of the processor or of somebody
// else, a collective that did not end, or whoever took the job away.
bool ended_otherwise(const View& view, const TorchCrew& crew) {
  constexpr int kAborted = 6;  // as an exception that C++ raises on the way out
  if (std::ranges::any_of(view.job.torch().exits(), [&](const auto& exit) {
        return crew.in_attempt(exit.line) && ended_by_itself(exit.fact) &&
               exit.fact.signal.value_or(kAborted) != kAborted;
      }))
    return true;
  const auto says_so = [&](const TorchSaying& saying) {
    if (saying.exception || !crew.in_attempt(saying.line)) return false;
    const auto match = meaning_of(view, saying);
    return match && is_from_outside(match->signature->marks);
  };
  return std::ranges::any_of(crew.ranks(), [&](const TorchRank* rank) {
    return std::ranges::any_of(
               rank->timeouts,
               [&](const TorchTimeout& timeout) { return crew.in_attempt(timeout.line); }) ||
           std::ranges::any_of(rank->said, says_so);
  });
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

}  // namespace

bool is_of_the_system(const PythonException& exception) {
  if (!is_file_of_the_system(exception.file)) return false;
  for (const SourceLine& line : exception.lines)
    if (const std::string_view file = file_of_frame(line.text); !file.empty())
      return is_file_of_the_system(file);
  return false;
}

CaughtExceptions::CaughtExceptions(const View& view, const TorchCrew& crew,
                                   const SourceSpeakers& speakers)
    : view_(view), speakers_(speakers), step_(last_step(view)) {
  for (const PartRecord& record : view.job.parts().records())
    if (record.kind == "training") ++print_steps_[record.source];
  ended_well_ = word_of_its_end(view) != nullptr || training_ended(view);
  const auto limit = ended_at_a_limit(view, crew);
  worked_until_its_limit_ = limit && worked_until(view, *limit);
  // A process that does not heed a limit is killed.
  const auto is_of_the_limit = [&](const ProcessExit& exit) {
    constexpr int kKilled = 9;
    return limit && exit.signal == kKilled;
  };
  ended_otherwise_ = ended_otherwise(view, crew);
  somebody_failed_ = std::ranges::any_of(view.job.torch().exits(), [&](const auto& exit) {
    return crew.in_attempt(exit.line) && ended_by_itself(exit.fact) && !is_of_the_limit(exit.fact);
  });
}

// Judges by the last time that it was raised.
bool CaughtExceptions::stands_at_the_end(const TorchSaying& saying) const {
  const LineRef& last = saying.last.line > last_line_of(saying) ? saying.last : saying.line;
  const std::uint64_t line = std::max(last.line, last_line_of(saying));
  return view_.job.sources().at(last.source).lines <= line + kLinesOfAnEnd;
}

std::uint64_t CaughtExceptions::steps_below(const TorchSaying& saying) const {
  if (!trained_on(step_, saying.line)) return 0;
  const auto& lines = saying.exception->lines;
  const std::uint64_t end = lines.empty() ? saying.line.offset : lines.back().offset;
  const auto processes = print_steps_.find(step_->source);
  if (step_->offset <= end || processes == print_steps_.end()) return 0;
  return (step_->offset - end) / processes->second;
}

bool CaughtExceptions::was_caught(int rank, const TorchSaying& saying) const {
  if (speakers_.went_on(rank, saying.line)) return true;
  const std::uint64_t below = steps_below(saying);
  if (below > kSurelyTrainedOn * kBufferBytes) return true;
  if (below > 0 && ended_otherwise_ && is_logged_as_no_error(saying)) return true;
  if (somebody_failed_ || stands_at_the_end(saying)) return false;
  return worked_until_its_limit_ || (ended_well_ && below > kBufferBytes);
}

bool CaughtExceptions::may_have_been_caught(const TorchSaying& saying) const {
  if (!saying.exception) return false;
  if (is_of_a_test(*saying.exception)) return true;
  return steps_below(saying) > kBufferBytes ||
         (is_logged_as_no_error(saying) && !stands_at_the_end(saying));
}

}  // namespace faultline
