#include "faults/summary.h"

#include <fmt/format.h>

#include <algorithm>

namespace faultline::faults {
namespace {

// A failure of every round need not be shown each time.
constexpr std::size_t kMostRoundsShown = 10;
constexpr std::size_t kMostReasonsShown = 4;
constexpr std::size_t kLongestReason = 400;

std::string on_one_line(std::string reason) {
  reason.resize(std::min(reason.size(), kLongestReason));
  while (reason.ends_with('\n')) reason.pop_back();
  std::ranges::replace(reason, '\n', ' ');
  return reason;
}

}  // namespace

std::string summary_head() {
  return fmt::format("{:<16}{:>8}{:>9}{:>14}{:>9}{:>12}{:>9}{:>10}{:>9}\n", "kind", "rounds",
                     "missed", "acknowledged", "refused", "unanswered", "checks", "failures",
                     "seconds");
}

std::string summary_row(std::string_view kind, const Tally& tally, double seconds) {
  std::string row = fmt::format("{:<16}{:>8}{:>9}{:>14}{:>9}{:>12}{:>9}{:>10}{:>9.1f}", kind,
                                tally.rounds, tally.missed, tally.acknowledged, tally.refused,
                                tally.unanswered, tally.checks, tally.failures.size(), seconds);
  if (tally.impossible > 0)
    row += fmt::format("  {} rounds are not possible on this machine", tally.impossible);
  return row + "\n";
}

std::string choices_of(std::string_view kind, const Tally& tally) {
  std::string text;
  for (const auto& [seed, choice] : tally.choices)
    text += fmt::format("{} with seed {}: {}\n", kind, seed, choice);
  return text;
}

std::string failures_of(std::string_view kind, const Tally& tally) {
  std::string text;
  std::size_t shown = 0;
  for (const auto& [seed, failed] : tally.failures) {
    if (++shown > kMostRoundsShown) break;
    const std::vector<std::string>& reasons = failed.reasons;
    text += fmt::format("{} failed with seed {}: ./dev faults {} --rounds {} --seed {} --lanes 1\n",
                        kind, seed, kind, failed.rounds_before + 1, seed - failed.rounds_before);
    const std::size_t most = std::min(reasons.size(), kMostReasonsShown);
    for (std::size_t i = 0; i < most; ++i) text += fmt::format("  {}\n", on_one_line(reasons[i]));
    if (reasons.size() > most) text += fmt::format("  and {} more\n", reasons.size() - most);
  }
  if (tally.missed > 0)
    text += fmt::format("{}: in {} rounds the fault did not strike, so they prove nothing\n", kind,
                        tally.missed);
  if (tally.failures.size() <= kMostRoundsShown) return text;
  text += fmt::format("{} failed in {} more rounds, with the seeds", kind,
                      tally.failures.size() - kMostRoundsShown);
  shown = 0;
  for (const auto& entry : tally.failures)
    if (++shown > kMostRoundsShown) text += fmt::format(" {}", entry.first);
  return text + "\n";
}

}  // namespace faultline::faults
