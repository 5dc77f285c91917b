#include "rules/story/inference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/knowledge/ground_names.h"
#include "rules/story/link.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Catalog catalog_of(std::vector<CausalLink> links) {
  Catalog catalog;
  catalog.causality = std::move(links);
  catalog.grounds = load_catalog().grounds;
  return catalog;
}

Candidate candidate(const std::string& id, const std::string& cause, double confidence,
                    bool symptom = false) {
  Candidate made;
  made.suspicion.finding = {.id = id, .cause = cause_named(cause), .confidence = confidence};
  made.suspicion.sure = {Claim::signature, confidence};
  made.suspicion.finding.subject.ranks = {3};
  made.suspicion.stops_job = symptom;
  made.suspicion.verdict = Verdict::hang;
  made.symptom = symptom;
  return made;
}

TEST(Inference, EveryChangeOfConfidenceIsTold) {
  const Catalog catalog =
      catalog_of({{Cause::gpu_hang, Cause::collective_rank_behind, {Relation::same_rank}}});
  std::vector<Candidate> all{candidate("f1", "gpu.hang", 0.8),
                             candidate("f2", "collective.rank_behind", 0.9, true),
                             candidate("f3", "pcie.error", 0.8)};
  link(catalog, all);
  weigh(catalog.grounds, all);
  state_confidence(catalog.grounds, all, 0);
  ASSERT_THAT(all[0].steps, SizeIs(2));
  EXPECT_DOUBLE_EQ(all[0].steps[1].confidence, all[0].finding().confidence);
  EXPECT_GT(all[0].finding().confidence, 0.8);
  EXPECT_LT(all[2].finding().confidence, 0.8);
  EXPECT_THAT(all[2].steps.back().why, HasSubstr("does not account"));
}

TEST(Inference, WhatAnotherKindOfLineBearsOutIsStatedMoreSurely) {
  std::vector<Candidate> all{candidate("f1", "gpu.hang", 0.95), candidate("f2", "gpu.hang", 0.95)};
  all[1].borne_out = true;
  state_confidence(load_catalog().grounds, all, 0);
  EXPECT_LT(all[0].finding().confidence, all[1].finding().confidence);
  EXPECT_LT(all[1].finding().confidence, 1);
}

TEST(Inference, WhatIsStatedIsLessSureWhereRanksWereNotHeardButForTheirAbsence) {
  std::vector<Candidate> heard{candidate("f1", "gpu.hang", 0.95),
                               candidate("f2", "launch.rank_missing", 0.85)};
  std::vector<Candidate> unheard = heard;
  state_confidence(load_catalog().grounds, heard, 0);
  state_confidence(load_catalog().grounds, unheard, 1);
  EXPECT_LT(unheard[0].finding().confidence, heard[0].finding().confidence);
  EXPECT_THAT(unheard[0].steps.back().why, HasSubstr("no line was seen"));
  EXPECT_EQ(unheard[1].finding().confidence, heard[1].finding().confidence);
}

}  // namespace
}  // namespace faultline
