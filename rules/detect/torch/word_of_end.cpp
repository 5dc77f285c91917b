#include "rules/detect/torch/word_of_end.h"

#include <cstdint>
#include <optional>

#include "rules/detect/performance/training.h"
#include "rules/knowledge/limits.h"
#include "rules/picture/read/sayings.h"
#include "rules/picture/who/torch_crew.h"

namespace faultline {
namespace {

// A script that started the program may print so many lines after the program's last word. More
// lines mean that something went on.
constexpr std::uint64_t kMostLinesAfter = 200;

}  // namespace

const LineRef* last_step(const View& view) {
  const std::optional<Training> training = training_of(view);
  return training ? training->line : nullptr;
}

bool trained_on(const LineRef* step, const LineRef& line) {
  return step != nullptr && step->source == line.source && step->line > line.line;
}

std::vector<const LineRef*> words_of_its_end(const View& view, double least_sure) {
  std::vector<const LineRef*> words;
  const LineRef* step = last_step(view);
  const bool worked = step != nullptr || !view.members.empty() || view.roll.seen > 0;
  const SourceAttempts attempts(view);
  for (const TorchRank* rank : view.job.torch().ranks())
    for (const TorchSaying& saying : rank->said) {
      const LineRef& line = saying.last;
      if (saying.exception || !attempts.in_attempt(line) ||
          view.job.sources().at(line.source).lines > line.line + kMostLinesAfter ||
          (step != nullptr && said_order(line, *step) == Order::before))
        continue;
      const auto match = meaning_of(view, saying);
      if (match && match->signature->marks == Marks::ended_well &&
          match->signature->confidence >= least_sure &&
          (worked || match->signature->confidence >= limits::decided))
        words.push_back(&line);
    }
  return words;
}

const LineRef* word_of_its_end(const View& view) {
  const std::vector<const LineRef*> words = words_of_its_end(view);
  return words.empty() ? nullptr : words.front();
}

}  // namespace faultline
