// Simple ways to guess a cause from logs within a minute, as people do without Faultline.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "accuracy/judgement.h"
#include "accuracy/reading.h"

namespace faultline::accuracy {

// Whom a guess accuses, and of what.
struct Guess {
  std::string cause;  // a class; empty: unknown
  std::string host;   // empty: no host is named
  std::optional<int> rank;
};

struct Baseline {
  std::string_view name;
  std::string_view about;
  std::optional<Guess> (*guess)(const Files& files,
                                const Catalog& catalog);  // nullopt: finds nothing wrong
};
std::span<const Baseline> baselines();

// Milder than the judgement of a diagnosis: the verdict is only well or not well, and naming the
// right host is enough.
Score judge_guess(const std::optional<Guess>& guess, const Wanted& wanted);

}  // namespace faultline::accuracy
