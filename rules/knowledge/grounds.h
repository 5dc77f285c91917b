// grounds.yaml: the weights of the reasons to be more or less sure, and the confidence that they
// give a finding.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/explanation.h"
#include "rules/knowledge/sureness.h"

namespace faultline {

double log_odds_of(double probability);
double probability_of(double log_odds);
double rounded_confidence(double confidence);
// What these log-odds are worth if they rest on evidence that no real log has had yet.
double worth_unseen(double log_odds);

// The reason given for that reduction among the terms of a confidence.
inline constexpr std::string_view kUnseenEvidence = "no real log has had such evidence yet";

class Grounds {
 public:
  struct Row {
    std::string means;
    double weight = 0;           // in log-odds; of a claim, its prior
    std::optional<double> most;  // in log-odds: with this ground nothing is surer than this
    bool of_company = false;     // about the other findings: added after those about the evidence
    bool unseen = false;         // of a claim: no real log has had such evidence yet
  };

  Grounds() = default;
  Grounds(std::vector<Row> grounds, std::vector<Row> claims)
      : grounds_(std::move(grounds)), claims_(std::move(claims)) {}

  double log_odds(const Sureness& sureness) const;
  double confidence(const Sureness& sureness) const;

  // The sum, term by term.
  std::vector<ConfidenceStep> steps(const Sureness& sureness) const;

 private:
  struct Term {
    double weight = 0;
    std::string_view why;
  };
  const Row& row(Ground ground) const;
  const Row& row(Claim claim) const;
  std::vector<Term> terms(const Sureness& sureness) const;

  std::vector<Row> grounds_;  // by Ground
  std::vector<Row> claims_;   // by Claim
};

}  // namespace faultline
