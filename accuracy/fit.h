// Fits what grounds weigh (rules/knowledge/catalog/grounds.yaml) to how often what they tell is so.
//
// What an answer is worth is a sum in log-odds: the prior of its claim, or its own, then the
// weights of its grounds, none leaving it surer than its `most`; then those of its company. The fit
// moves these numbers only as far as the jobs make it: each is held to the value that a person set
// as if that had been seen a few times, and what is in few answers does not move. Simulated jobs
// are cleaner than life: they lower weights and limits and raise none but those of what is counted
// in a job's own lines, they raise no prior above the line of blame or 0.9, and evidence that no
// real log has had yet is stated below 0.9 whatever its prior. A weight keeps its sign.
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
  double set = 0;     // in log-odds, by a person
  double value = 0;
  double least = 0;
  double most = 0;
  double seen = 0;  // in so many answers
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

// An answer that was stated.
struct FitSample {
  std::optional<std::size_t> prior;  // a parameter; nothing: its own
  double own = 0;
  std::vector<WeightTable::Ground> grounds;  // in the order in which they count
  bool unseen = false;                       // no real log has had such evidence yet
  bool right = false;
  double counts = 1;
  enum class Part { fitted, other_seeds, other_families, real } part = Part::fitted;
};

// From the terms that --explain prints; nothing: they are not of this table.
std::optional<FitSample> sample_of(const WeightTable& table,
                                   const std::vector<ConfidenceStep>& terms);

double log_odds_of(const FitSample& sample, const std::vector<Parameter>& parameters);

void fit(WeightTable& table, const std::vector<FitSample>& samples);

// How well the numbers did that were set and those that were fitted, on what was fitted and on
// what was held out; and what moved.
std::string fit_report(const WeightTable& table, const std::vector<FitSample>& samples);

}  // namespace faultline::accuracy
