// What was measured of the job's speed, and whether there is a reference to judge it by.
#pragma once

#include <vector>

#include "rules/picture/view.h"

namespace faultline {

// Bandwidth tests, profiles and training steps; no check for what was not measured.
std::vector<Check> checks_of_performance(const View& view);

// There are bandwidth tests or profiles, and their checks pass.
bool is_as_fast_as_it_should_be(const View& view);

// Runs of nccl-tests that named their devices, but whose last line is missing: a test that hangs
// looks like one that was stopped.
std::vector<const PartRecord*> tests_without_end(const View& view);

std::vector<MissingEvidence> ask_for_tests(const View& view);

// If no line shows a fault, or if the profiled ranks wait: they may wait for a rank without a
// profile.
std::vector<MissingEvidence> ask_for_profiles(const View& view, const Diagnosis& diagnosis);

}  // namespace faultline
