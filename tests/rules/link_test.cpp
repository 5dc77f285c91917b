#include "rules/story/link.h"

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
  return catalog;
}

Candidate candidate(const std::string& id, const std::string& cause, double confidence,
                    bool symptom = false) {
  Candidate made;
  made.suspicion.finding = {.id = id, .cause = cause_named(cause), .confidence = confidence};
  made.suspicion.finding.subject.ranks = {3};
  made.suspicion.stops_job = symptom;
  made.suspicion.verdict = Verdict::hang;
  made.symptom = symptom;
  made.steps = {{confidence, "as its evidence stands"}};
  return made;
}

TEST(Link, WhatComesLaterIsNoCauseAndTheReasonIsKept) {
  const Catalog catalog =
      catalog_of({{Cause::gpu_hang, Cause::process_aborted, {Relation::same_rank}}});
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

TEST(Link, WhatMeansNothingByItselfAccountsForNothing) {
  const Catalog catalog =
      catalog_of({{Cause::nccl_error, Cause::process_aborted, {Relation::same_rank}}});
  std::vector<Candidate> all{candidate("f1", "nccl.error", 0.9, true),
                             candidate("f2", "process.aborted", 0.9, true)};
  all[0].suspicion.stops_job = false;
  link(catalog, all);
  EXPECT_THAT(all[1].explained_by, IsEmpty());
  EXPECT_THAT(all[0].finding().explains, IsEmpty());
}

Candidate late_rank(const std::string& id, int rank) {
  Candidate made = candidate(id, "collective.rank_behind", 0.63, true);
  made.finding().subject.ranks = {rank};
  made.suspicion.sure.add(Ground::late_here_and_there);
  return made;
}

TEST(Link, WhatAccountsForOneOfManyLateRanksAccountsForAll) {
  const Catalog catalog =
      catalog_of({{Cause::host_oom_killed, Cause::collective_rank_behind, {Relation::same_rank}}});
  std::vector<Candidate> all{candidate("f1", "host.oom_killed", 0.7), late_rank("f2", 3),
                             late_rank("f3", 9), late_rank("f4", 12)};
  link(catalog, all);
  EXPECT_THAT(all[0].finding().explains, ElementsAre("f2", "f3", "f4"));
  all[0].finding().subject.ranks = {5};
  for (Candidate& each : all) each.effects.clear(), each.explained_by.clear();
  all[0].finding().explains.clear();
  link(catalog, all);
  EXPECT_THAT(all[0].finding().explains, IsEmpty()) << "it stopped none of them";
}

TEST(Link, ARankThatIsCertainlyBehindAccountsForOthersThatSeemToBe) {
  const Catalog catalog = catalog_of(
      {{Cause::collective_rank_behind, Cause::collective_rank_behind, {Relation::same_rank}}});
  for (const double confidence : {0.87, 0.7}) {
    std::vector<Candidate> all{candidate("f1", "collective.rank_behind", confidence, true),
                               late_rank("f2", 9)};
    link(catalog, all);
    EXPECT_EQ(all[0].effects.size(), confidence > 0.8 ? 1 : 0);
  }
}

TEST(Link, ARankThatIsBehindForItselfFollowsFromNoOtherRanksFault) {
  const Catalog catalog =
      catalog_of({{Cause::host_oom_killed, Cause::collective_rank_behind, {Relation::same_rank}}});
  std::vector<Candidate> all{candidate("f1", "host.oom_killed", 0.9), late_rank("f2", 3),
                             late_rank("f3", 9)};
  all[2].suspicion.sure.remove(Ground::late_here_and_there);
  link(catalog, all);
  EXPECT_THAT(all[0].finding().explains, ElementsAre("f2"));
}

// Each class explains the next, and the last class explains the first.
Catalog ring_of(const std::vector<std::string>& classes) {
  std::vector<CausalLink> links;
  for (std::size_t i = 0; i < classes.size(); ++i)
    links.push_back({cause_named(classes[i]),
                     cause_named(classes[(i + 1) % classes.size()]),
                     {Relation::same_rank}});
  return catalog_of(std::move(links));
}

TEST(Link, ARingOpensAtACauseAndNotAtASurerSymptom) {
  const Catalog catalog = ring_of({"network.peer_lost", "process.aborted", "collective.timeout"});
  std::vector<Candidate> all{candidate("f1", "collective.timeout", 0.9, true),
                             candidate("f2", "process.aborted", 0.9, true),
                             candidate("f3", "network.peer_lost", 0.5)};
  link(catalog, all);
  EXPECT_THAT(all[2].explained_by, IsEmpty());
  EXPECT_THAT(all[2].finding().explains, ElementsAre("f2"));
  EXPECT_THAT(all[1].explained_by, ElementsAre(2));
}

TEST(Link, ACauseThatStandsBelowWhatLedToItInOneLogBeginsNoRing) {
  const Catalog catalog = ring_of({"network.peer_lost", "collective.timeout", "process.aborted"});
  std::vector<Candidate> all{candidate("f1", "network.peer_lost", 0.9),
                             candidate("f2", "collective.timeout", 0.5, true),
                             candidate("f3", "process.aborted", 0.5, true)};
  for (std::size_t i = 0; i < 3; ++i)
    all[i].finding().evidence = {{.source = "train.log", .line = i == 0 ? 9 : i}};
  link(catalog, all);
  EXPECT_THAT(all[0].explained_by, ElementsAre(2));
  EXPECT_THAT(all[1].explained_by, IsEmpty());
}

TEST(Link, NeitherIdsNorConfidenceDecideWhichOfTwoBegan) {
  const Catalog catalog = ring_of({"gpu.thermal", "gpu.hang"});
  for (const auto& [first, second] : {std::pair("f1", "f2"), std::pair("f2", "f1")})
    for (const double sure : {0.7, 0.9}) {
      std::vector<Candidate> all{candidate(first, "gpu.hang", 0.8),
                                 candidate(second, "gpu.thermal", sure)};
      all[1].finding().subject.gpus = {"n1/3a"};
      link(catalog, all);
      EXPECT_THAT(all[0].explained_by, ElementsAre(1));
      EXPECT_THAT(all[1].explained_by, IsEmpty());
    }
}

TEST(Link, WhatIsToldBeforeItsCauseDidNotBegin) {
  const Catalog catalog =
      catalog_of({{Cause::gpu_off_bus, Cause::pcie_error, {Relation::same_rank}, 60},
                  {Cause::pcie_error, Cause::gpu_off_bus, {Relation::same_rank}}});
  std::vector<Candidate> all{candidate("f1", "pcie.error", 0.9),
                             candidate("f2", "gpu.off_bus", 0.9)};
  all[0].suspicion.since = EventTime::at(Timestamp(std::chrono::seconds(7'000)));
  all[1].suspicion.since = EventTime::at(Timestamp(std::chrono::seconds(7'030)));
  link(catalog, all);
  EXPECT_THAT(all[1].explained_by, IsEmpty());
  EXPECT_THAT(all[0].explained_by, ElementsAre(1));
}

TEST(Link, NothingIsLeftInRings) {
  std::vector<CausalLink> links;
  const std::vector<std::string> classes{"gpu.hang", "gpu.thermal", "pcie.error", "gpu.off_bus"};
  for (const std::string& cause : classes)
    for (const std::string& effect : classes)
      if (cause != effect)
        links.push_back({cause_named(cause), cause_named(effect), {Relation::same_rank}});
  std::vector<Candidate> all;
  for (const std::string& cause : classes) all.push_back(candidate(cause, cause, 0.8));
  link(catalog_of(std::move(links)), all);
  std::size_t count = 0;
  for (const Candidate& one : all) count += one.effects.size();
  EXPECT_EQ(count, 6U);  // four in a row: each explains all that come after it
}

TEST(Link, WhatIsMuchLessFirmDoesNotSwallowWhatTellsItsOwnReason) {
  const Catalog catalog =
      catalog_of({{Cause::host_limits, Cause::host_oom_killed, {Relation::same_rank}},
                  {Cause::host_limits, Cause::process_aborted, {Relation::same_rank}}});
  std::vector<Candidate> all{candidate("f1", "host.limits", 0.4),
                             candidate("f2", "host.oom_killed", 0.85),
                             candidate("f3", "process.aborted", 0.85, true)};
  link(catalog, all);
  EXPECT_THAT(all[1].explained_by, IsEmpty());
  EXPECT_THAT(all[1].possible_causes[0].rejected, HasSubstr("too uncertain"));
  EXPECT_THAT(all[2].explained_by, ElementsAre(0));  // a symptom needs a cause, even an unsure one
}

TEST(Link, ATextThatNamesItsReasonFollowsFromNothingOfTheWholeHost) {
  const Catalog catalog =
      catalog_of({{Cause::host_shm_full, Cause::software_rank_crashed, {Relation::same_host}},
                  {Cause::gpu_hang, Cause::software_rank_crashed, {Relation::same_rank}}});
  std::vector<Candidate> all{candidate("f1", "host.shm_full", 0.9),
                             candidate("f2", "software.rank_crashed", 0.85),
                             candidate("f3", "gpu.hang", 0.9)};
  for (Candidate& one : all) one.finding().subject.hosts = {"n1"};
  all[1].suspicion.names_its_reason = true;
  link(catalog, all);
  EXPECT_THAT(all[1].explained_by, ElementsAre(2));
  EXPECT_THAT(all[1].possible_causes[0].rejected, HasSubstr("say why"));
}

TEST(Link, WhatTheJobGotToWorkWithEndedNoProcess) {
  const Catalog catalog =
      catalog_of({{Cause::host_limits, Cause::process_aborted, {Relation::same_rank}}});
  std::vector<Candidate> all{candidate("f1", "host.limits", 0.9),
                             candidate("f2", "process.aborted", 0.6, true)};
  all[0].suspicion.job_ran_with_it = true;
  all[1].suspicion.stops_job = false;
  link(catalog, all);
  EXPECT_THAT(all[0].effects, IsEmpty());
}

TEST(Link, ManyFindingsAreLinkedByTheirParts) {
  const Catalog catalog =
      catalog_of({{Cause::gpu_off_bus, Cause::gpu_teardown, {Relation::same_gpu}}});
  std::vector<Candidate> all;
  for (int i = 0; i < 3000; ++i) {
    for (const char* cause : {"gpu.off_bus", "gpu.teardown"}) {
      all.push_back(candidate(std::to_string(all.size()), cause, 0.9));
      all.back().finding().subject = {.gpus = {std::to_string(i)}};
    }
  }
  link(catalog, all);
  for (std::size_t i = 0; i < all.size(); i += 2) ASSERT_THAT(all[i].effects, ElementsAre(i + 1));
}

TEST(Link, AChainHasEachFindingAfterWhatExplainsIt) {
  Finding cause{.id = "f1", .explains = {"f3", "f2"}};
  const std::vector<Finding> symptoms{
      {.id = "f3", .explains = {}}, {.id = "f2", .explains = {"f3"}}, {.id = "f9", .explains = {}}};
  EXPECT_THAT(chain_of(cause, symptoms), ElementsAre("f1", "f2", "f3"));
}

TEST(Link, TheChainDoesNotHangOnIds) {
  Finding cause{.id = "f1", .explains = {"f3", "f2"}};
  const std::vector<Finding> symptoms{
      {.id = "f3", .cause = Cause::collective_stalled, .explains = {}},
      {.id = "f2", .cause = Cause::process_aborted, .explains = {}}};
  EXPECT_THAT(chain_of(cause, symptoms), ElementsAre("f1", "f3", "f2"));
}

}  // namespace
}  // namespace faultline
