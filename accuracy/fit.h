// Fits the weights of grounds (rules/knowledge/catalog/grounds.yaml) to labelled answers.
//
// The confidence of an answer is a sum in log-odds: the prior of its claim, or its own; then the
// weights of its grounds, each of which may limit the sum to its `most`; then those of its company.
// The fit moves these numbers only as far as the jobs demand: each is held to the value that a
// person set, as if that had been seen a few times, and a number in few answers does not move.
// Simulated jobs are cleaner than real ones. So the fit lowers weights and limits, and raises only
// those of evidence that is counted in a job's own lines. It raises no prior above the line of
// blame or 0.9, and evidence that no real log has had yet is stated below 0.9 whatever its prior. A
// weight keeps its sign.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/explanation.h"

namespace faultline::accuracy {

// A number that is fitted.
struct Parameter {
  std::string section;  // grounds, company, claims
  std::string name;
  std::string field;  // weight, most, prior
  double number = 0;  // as it stands in the file
  double set = 0;     // in log-odds, as a person set it
  double value = 0;
  double least = 0;
  double most = 0;
  double seen = 0;  // the number of answers that it is in
};

class WeightTable {
 public:
  // Throws std::runtime_error if the text is no grounds.yaml.
  explicit WeightTable(std::string_view yaml);

  struct Ground {
    bool company = false;
    std::optional<std::size_t> weight, most;  // parameters
  };

  std::vector<Parameter> parameters;
  std::map<std::string, Ground, std::less<>> grounds;            // by what they mean
  std::map<std::string, std::size_t, std::less<>> claim_priors;  // by what they mean

  // The file with the fitted numbers in place of the old ones.
  std::string written() const;

 private:
  std::string text_;
};

// A cause that a diagnosis stated.
struct FitSample {
  std::optional<std::size_t> prior;  // a parameter; nullopt: `own` instead
  double own = 0;
  std::vector<WeightTable::Ground> grounds;  // in the order in which they count
  bool unseen = false;                       // no real log has had such evidence yet
  bool right = false;
  double counts = 1;
  enum class Part { fitted, other_seeds, other_families, real } part = Part::fitted;
};

// From the terms that --explain prints. nullopt: a term is not in this table.
std::optional<FitSample> sample_of(const WeightTable& table,
                                   const std::vector<ConfidenceStep>& terms);

double log_odds_of(const FitSample& sample, const std::vector<Parameter>& parameters);

void fit(WeightTable& table, const std::vector<FitSample>& samples);

// Compares the set numbers with the fitted ones, on the answers that were fitted and on those held
// out, and lists the numbers that moved.
std::string fit_report(const WeightTable& table, const std::vector<FitSample>& samples);

}  // namespace faultline::accuracy
