#include "rules/story/witnesses.h"

#include <algorithm>

#include "rules/story/one_event.h"

namespace faultline {

void call_witnesses(std::vector<Candidate>& candidates) {
  constexpr std::size_t kMostLines = 8;
  for (Candidate& cause : candidates) {
    if (!is(cause.finding().cause, Trait::of_calls)) continue;
    for (const std::size_t e : cause.effects) {
      const Candidate& effect = candidates[e];
      if (!is_of(effect.finding().cause, Family::collective) || effect.finding().evidence.empty())
        continue;
      const auto same_clock = [&](std::string_view detector) {
        return clock_of(detector) == clock_of(effect.detector);
      };
      if (std::ranges::any_of(cause.clocks, same_clock)) continue;
      std::vector<Evidence>& lines = cause.finding().evidence;
      if (lines.size() >= kMostLines) lines.resize(kMostLines - 1);
      const Evidence& line = effect.finding().evidence.front();
      if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
      cause.clocks.push_back(effect.detector);
    }
  }
}

}  // namespace faultline
