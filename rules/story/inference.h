// Which finding follows from which, by causality.yaml, and what that makes of each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/explanation.h"
#include "rules/knowledge/catalog.h"
#include "rules/knowledge/suspicion.h"
#include "rules/picture/view.h"

namespace faultline {

// A finding among the others of its diagnosis.
struct Candidate {
  Suspicion suspicion;
  std::string_view detector;
  std::vector<std::string_view> clocks;  // detectors whose lines are among the evidence
  bool symptom = false;
  bool borne_out = false;  // another detector found the same by other lines
  double log_odds = 0;     // from which its confidence is stated
  // Of a fault between two hosts: the ranks of the smallest communicators in which its ranks meet.
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
  // What only follows from something, and stops nothing, accuses nobody by itself.
  bool means_nothing_alone() const {
    if (suspicion.needs_effect && effects.empty() && explained_by.empty()) return true;
    return symptom && !suspicion.stops_job && explained_by.empty();
  }
};

// From its claim and grounds.
void work_out_confidence(const Grounds& grounds, Suspicion& suspicion);

// The same fault was found again: what is known of it counts for it, whoever found it. Whose parts
// and lines are shown is for the caller to say.
void count_again(Suspicion& known, const Suspicion& again);

// Fills in held_up.
void find_held_up(const View& view, std::vector<Candidate>& candidates);

// Fills in effects, explained_by and possible_causes.
void link(const Catalog& catalog, std::vector<Candidate>& candidates);

// What a cause accounts for is a ground to be more or less sure of it.
void weigh(const Grounds& grounds, std::vector<Candidate>& candidates);

// Fills in log_odds and steps, and rounds what is stated. `unheard`: ranks of the job of which no
// line was seen.
void state_confidence(const Grounds& grounds, std::vector<Candidate>& candidates,
                      std::size_t unheard);

// By place in `candidates`: where a cause's lines tell how the job ended, what follows from it does
// not tell it otherwise.
bool verdict_is_told(const std::vector<Candidate>& candidates, const Candidate& effect);

// The worse of two.
Verdict worse(Verdict a, Verdict b);

// From the first root cause to what it led to: each finding after what explains it, earlier lines
// first.
std::vector<std::string> chain_of(const Finding& cause, const std::vector<Finding>& symptoms);

}  // namespace faultline
