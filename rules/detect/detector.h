// A detector looks at the picture of a job and says what it finds. It is a function: it keeps
// nothing between calls and reads no clock. Which finding explains which is decided later, in
// rules/story/.
//
// To add one: write it in a file of its own, add it to all_detectors.cpp.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "rules/knowledge/suspicion.h"
#include "rules/picture/view.h"

namespace faultline {

inline constexpr std::size_t kMostLines = 4;  // of one kind that a finding shows
inline constexpr std::size_t kMostAlike = 4;  // findings of one fault; more are joined into one

// A critical finding of something that stops the job.
Suspicion hang(Cause cause, Sureness sure, const EventTime& since = {});

// Adds the latest lines of the first few members as evidence.
void add_last_lines(const View& view, const std::vector<std::size_t>& members, Finding& finding);

struct Detector {
  std::string_view name;
  std::vector<Suspicion> (*look)(const View& view);
};

std::span<const Detector> all_detectors();

}  // namespace faultline
