// Fitting the weights of grounds: how a sum is put together from the printed terms, and what the
// fit may change.
#include "accuracy/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace faultline::accuracy {
namespace {

using testing::HasSubstr;

constexpr std::string_view kTable = R"(# A comment stays.
grounds:
  host_unknown: {weight: -1.0, most: 0.84, means: "no line names the host"}
  told_twice: {weight: 0.5, means: "two say the same"}
company:
  explains: {weight: 0.2, means: "it accounts for the stop"}
claims:
  xid: {prior: 0.87, means: "a kernel's word"}
)";

std::vector<ConfidenceStep> terms_of(std::initializer_list<const char*> grounds) {
  std::vector<ConfidenceStep> terms(1);
  terms[0].confidence = 0.87;
  terms[0].why = "+1.90 a kernel's word";
  for (const char* ground : grounds) {
    ConfidenceStep& term = terms.emplace_back();
    term.why = ground;
  }
  return terms;
}

double stated(const WeightTable& table, const FitSample& sample) {
  return 1 / (1 + std::exp(-log_odds_of(sample, table.parameters)));
}

TEST(FitSample, IsTheSumOfItsTermsAndNoSurerThanItsGroundsAllow) {
  const WeightTable table(kTable);
  const auto plain = sample_of(table, terms_of({}));
  ASSERT_TRUE(plain);
  EXPECT_NEAR(stated(table, *plain), 0.87, 0.001);
  // This ground both adds a weight and sets a limit, but its weight counts once.
  const auto unknown =
      sample_of(table, terms_of({"-1.00 no line names the host", "no line names the host"}));
  ASSERT_TRUE(unknown);
  EXPECT_NEAR(log_odds_of(*unknown, table.parameters), std::log(0.87 / 0.13) - 1, 0.001);
  EXPECT_FALSE(sample_of(table, terms_of({"of another table"})));
}

TEST(FitSample, IsStatedBelowNineTenthsWhereNoRealLogHasHadItsEvidence) {
  WeightTable table(kTable);
  table.parameters[table.claim_priors.at("a kernel's word")].value = 4;
  const auto unseen = sample_of(table, terms_of({"-1.00 no real log has had such evidence yet"}));
  ASSERT_TRUE(unseen);
  EXPECT_LT(stated(table, *unseen), 0.9);
}

std::vector<FitSample> samples(const WeightTable& table, const char* ground, int right, int wrong) {
  std::vector<FitSample> all;
  for (int i = 0; i < right + wrong; ++i) {
    all.push_back(*sample_of(table, terms_of({ground})));
    all.back().right = i < right;
  }
  return all;
}

const Parameter& parameter(const WeightTable& table, std::string_view name,
                           std::string_view field) {
  return *std::ranges::find_if(
      table.parameters, [&](const Parameter& it) { return it.name == name && it.field == field; });
}

TEST(Fit, MovesWhatItsAnswersTellOtherwise) {
  WeightTable table(kTable);
  fit(table, samples(table, "no line names the host", 20, 80));
  EXPECT_LT(parameter(table, "host_unknown", "weight").value, -1);
  EXPECT_EQ(parameter(table, "told_twice", "weight").value, 0.5) << "nothing was seen of it";
}

TEST(Fit, KeepsAWeightsSignAndWhatNoRealLogHasShownBelowNineTenths) {
  WeightTable table(kTable);
  fit(table, samples(table, "no line names the host", 2000, 0));
  EXPECT_LE(parameter(table, "host_unknown", "weight").value, 0);
  EXPECT_LE(parameter(table, "xid", "prior").value, std::log(0.89 / 0.11) + 1e-9);
  WeightTable other(kTable);
  fit(other, samples(other, "two say the same", 0, 2000));
  EXPECT_GE(parameter(other, "told_twice", "weight").value, 0);
}

TEST(Fit, LeavesTheFileAsItIsButForTheNumbers) {
  WeightTable table(kTable);
  EXPECT_EQ(table.written(), kTable);
  fit(table, samples(table, "no line names the host", 0, 500));
  EXPECT_THAT(table.written(), HasSubstr("# A comment stays."));
  EXPECT_THAT(table.written(), testing::Not(HasSubstr("weight: -1.0,")));
  EXPECT_THAT(table.written(), HasSubstr("  told_twice: {weight: 0.5, means"));
}

TEST(Fit, ReportsWhatWasHeldOut) {
  WeightTable table(kTable);
  std::vector<FitSample> all = samples(table, "no line names the host", 10, 30);
  for (std::size_t i = 0; i < all.size(); i += 4) all[i].part = FitSample::Part::other_seeds;
  fit(table, all);
  EXPECT_THAT(fit_report(table, all), HasSubstr("| other seeds | 10 |"));
}

}  // namespace
}  // namespace faultline::accuracy
