// How a diagnosis came about: which findings there were, which were taken to follow from which, and
// which were not, and why. Shown when asked for (`diagnose --explain`, `?explain=true`).
#pragma once

#include <boost/describe.hpp>

#include <string>
#include <vector>

namespace faultline {

enum class Place { root_cause, symptom, so_far, observation };
BOOST_DESCRIBE_ENUM(Place, root_cause, symptom, so_far, observation)

// A change to the confidence of a finding. The first step is what its detector gave.
struct ConfidenceStep {
  double confidence = 0;
  std::string why;
};

// A finding that could account for another, by their classes and subjects.
struct PossibleCause {
  std::string finding;
  std::string rule;      // "gpu.off_bus -> gpu.teardown (same_gpu)"
  std::string order;     // of the lines: "before", "after", "cannot tell"
  std::string rejected;  // why it does not account for it; empty: it does
};

struct FindingStory {
  std::string finding;
  std::string title;
  std::string detector;
  Place place = Place::root_cause;
  std::string why;  // it is in that place
  std::vector<ConfidenceStep> confidence;
  std::vector<PossibleCause> possible_causes;
};

struct Explanation {
  std::vector<std::string> detectors;  // that looked
  std::vector<FindingStory> findings;  // in the order of the diagnosis
};

}  // namespace faultline
