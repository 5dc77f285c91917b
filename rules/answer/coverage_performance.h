// What was measured of the job's speed, and whether it can be told how good that is.
#pragma once

#include <vector>

#include "rules/picture/view.h"

namespace faultline {

// Bandwidth tests and profiles; nothing of those that nobody took.
std::vector<Check> checks_of_performance(const View& view);

// Tests or profiles measured the whole, and nothing is slower than such hardware is.
bool is_as_fast_as_it_should_be(const View& view);

// Runs of nccl-tests that named their devices, and whose last line is not there: one that stands
// looks like one that was ended.
std::vector<const PartRecord*> tests_without_end(const View& view);

std::vector<MissingEvidence> ask_for_tests(const View& view);

// Where nothing is wrong as far as lines tell, or ranks wait that were profiled: the one that they
// wait for may be another.
std::vector<MissingEvidence> ask_for_profiles(const View& view, const Diagnosis& diagnosis);

}  // namespace faultline
