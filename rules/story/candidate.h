// A finding, and how it relates to the other findings of its diagnosis.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "model/explanation.h"
#include "rules/knowledge/suspicion.h"

namespace faultline {

struct Candidate {
  Suspicion suspicion;
  std::string_view detector;
  std::vector<std::string_view> clocks;  // detectors whose lines are among the evidence
  bool symptom = false;
  bool borne_out = false;  // another detector found the same by other lines
  double log_odds = 0;     // from which its confidence is stated
  bool untied = false;     // no clock places it, and nothing else ties it to a rank that stopped
  bool held = false;       // not reported before more of the logs has come
  bool might_explain = false;  // would explain a stop, if it was at that time
  // For a fault between two hosts: the ranks of the smallest communicators in which its ranks meet.
  std::vector<int> held_up;
  std::vector<std::size_t> effects;  // what it explains
  std::vector<std::size_t> explained_by;
  std::vector<ConfidenceStep> steps;
  std::vector<PossibleCause> possible_causes;

  Finding& finding() { return suspicion.finding; }
  const Finding& finding() const { return suspicion.finding; }
  // Of the job's own parts, and not harmless.
  bool in_question() const {
    return finding().part_of_job && suspicion.verdict != Verdict::healthy;
  }
  // A finding that only follows from something, and stops nothing, accuses nobody by itself.
  bool means_nothing_alone() const {
    if (suspicion.needs_effect && !might_explain && effects.empty() && explained_by.empty())
      return true;
    return symptom && !suspicion.stops_job && explained_by.empty();
  }
};

}  // namespace faultline
