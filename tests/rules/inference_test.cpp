#include "rules/story/inference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/knowledge/ground_names.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
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
  made.suspicion.finding = {.id = id, .cause = cause, .confidence = confidence};
  made.suspicion.sure = {Claim::signature, confidence};
  made.suspicion.finding.subject.ranks = {3};
  made.suspicion.stops_job = symptom;
  made.suspicion.verdict = Verdict::hang;
  made.symptom = symptom;
  return made;
}

TEST(Inference, WhatComesLaterIsNoCauseAndTheReasonIsKept) {
  const Catalog catalog = catalog_of({{"gpu.hang", "process.aborted", {Relation::same_rank}}});
  std::vector<Candidate> all{candidate("f1", "gpu.hang", 0.9),
                             candidate("f2", "process.aborted", 0.9, true)};
  all[0].suspicion.since = EventTime::at(Timestamp(std::chrono::hours(2)));
  all[1].suspicion.since = EventTime::at(Timestamp(std::chrono::hours(1)));
  link(catalog, all);
  EXPECT_THAT(all[1].explained_by, IsEmpty());
  ASSERT_THAT(all[1].possible_causes, SizeIs(1));
  EXPECT_EQ(all[1].possible_causes[0].finding, "f1");
  EXPECT_EQ(all[1].possible_causes[0].order, "after");
  EXPECT_THAT(all[1].possible_causes[0].rejected, HasSubstr("later"));
  EXPECT_THAT(all[1].possible_causes[0].rule, HasSubstr("gpu.hang -> process.aborted (same_rank)"));
}

TEST(Inference, ARingIsOpenedAtItsSurestFinding) {
  const Catalog catalog = catalog_of({{"gpu.hang", "gpu.thermal", {Relation::same_rank}},
                                      {"gpu.thermal", "pcie.error", {Relation::same_rank}},
                                      {"pcie.error", "gpu.hang", {Relation::same_rank}}});
  std::vector<Candidate> all{candidate("f1", "gpu.hang", 0.7), candidate("f2", "gpu.thermal", 0.9),
                             candidate("f3", "pcie.error", 0.8)};
  link(catalog, all);
  EXPECT_THAT(all[1].explained_by, IsEmpty());
  EXPECT_THAT(all[2].explained_by, ElementsAre(1));
  EXPECT_THAT(all[0].explained_by, ElementsAre(2));
}

TEST(Inference, WhatMeansNothingByItselfAccountsForNothing) {
  const Catalog catalog = catalog_of({{"nccl.error", "process.aborted", {Relation::same_rank}}});
  std::vector<Candidate> all{candidate("f1", "nccl.error", 0.9, true),
                             candidate("f2", "process.aborted", 0.9, true)};
  all[0].suspicion.stops_job = false;
  link(catalog, all);
  EXPECT_THAT(all[1].explained_by, IsEmpty());
  EXPECT_THAT(all[0].finding().explains, IsEmpty());
}

TEST(Inference, EveryChangeOfConfidenceIsTold) {
  const Catalog catalog =
      catalog_of({{"gpu.hang", "collective.rank_behind", {Relation::same_rank}}});
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
  EXPECT_THAT(unheard[0].steps.back().why, HasSubstr("were not heard"));
  EXPECT_EQ(unheard[1].finding().confidence, heard[1].finding().confidence);
}

TEST(Inference, AChainHasEachFindingAfterWhatExplainsIt) {
  Finding cause{.id = "f1", .explains = {"f3", "f2"}};
  const std::vector<Finding> symptoms{
      {.id = "f3", .explains = {}}, {.id = "f2", .explains = {"f3"}}, {.id = "f9", .explains = {}}};
  EXPECT_THAT(chain_of(cause, symptoms), ElementsAre("f1", "f2", "f3"));
}

}  // namespace
}  // namespace faultline
