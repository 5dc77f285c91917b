// What people do without Faultline, as far as a program can do it: ways to guess at a cause from
// logs in a minute.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "accuracy/judgement.h"
#include "accuracy/reading.h"

namespace faultline::accuracy {

// Whom a glance accuses, and of what.
struct Guess {
  std::string cause;  // a class; empty: nobody knows
  std::string host;   // empty: none is named
  std::optional<int> rank;
};

struct Baseline {
  std::string_view name;
  std::string_view about;
  std::optional<Guess> (*guess)(const Files& files,
                                const Catalog& catalog);  // nothing: all is well
};
std::span<const Baseline> baselines();

// Judged more mildly than a diagnosis: a job is well or not, and the right host will do.
Score judge_guess(const std::optional<Guess>& guess, const Wanted& wanted);

}  // namespace faultline::accuracy
