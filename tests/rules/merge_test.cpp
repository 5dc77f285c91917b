#include "rules/story/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Candidate candidate(std::string_view detector, const std::string& cause, Subject subject,
                    double confidence = 0.9) {
  Candidate made;
  made.detector = detector;
  made.suspicion.finding = {
      .id = std::string(detector), .cause = cause_named(cause), .confidence = confidence};
  made.suspicion.finding.subject = std::move(subject);
  for (std::uint64_t line = 1; line <= 4; ++line)
    made.suspicion.finding.evidence.push_back({.source = std::string(detector), .line = line});
  made.suspicion.verdict = Verdict::failed;
  return made;
}

void merge_of(std::vector<Candidate>& candidates) {
  const JobState job("j");
  const Catalog catalog{};
  const Moment moment{};
  merge(View(job, catalog, moment), candidates);
}

std::vector<std::string> sources_of(const Finding& finding) {
  std::vector<std::string> sources;
  for (const Evidence& line : finding.evidence) sources.push_back(line.source);
  return sources;
}

TEST(Merge, AWarningOfTwoHostsAndTheSettingOfTheOddOneAreOneFindingOfTheOddOne) {
  std::vector<Candidate> all{
      candidate("remarks", "software.version_mismatch", {.hosts = {"n1", "n5"}, .ranks = {0, 32}},
                0.95),
      candidate("configuration", "software.version_mismatch", {.hosts = {"n5"}}, 0.85)};
  merge_of(all);
  ASSERT_THAT(all, SizeIs(1));
  const Finding& finding = all.front().finding();
  EXPECT_EQ(finding.id, "configuration");
  EXPECT_THAT(finding.subject.hosts, ElementsAre("n5"));
  EXPECT_THAT(finding.subject.ranks, IsEmpty());
  EXPECT_TRUE(all.front().borne_out);
  EXPECT_DOUBLE_EQ(finding.confidence, 0.95);
  EXPECT_EQ(finding.count, 2U);
}

TEST(Merge, TheSurerOnesLinesComeFirstAndSomeOfEachAreAmongTheFirstFour) {
  std::vector<Candidate> all{candidate("parts", "host.shm_full", {.hosts = {"n1"}}, 0.7),
                             candidate("remarks", "host.shm_full", {.hosts = {"n1"}}, 0.95)};
  merge_of(all);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_THAT(
      sources_of(all.front().finding()),
      ElementsAre("remarks", "remarks", "parts", "parts", "remarks", "remarks", "parts", "parts"));
}

TEST(Merge, WhereBothNameTheHostAllThatEitherNamesIsAtFault) {
  std::vector<Candidate> all{
      candidate("kernel", "network.link_down", {.hosts = {"n1"}, .nics = {"n1/mlx5_2:1"}}),
      candidate("remarks", "network.link_down", {.hosts = {"n1"}, .ranks = {3}})};
  merge_of(all);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_THAT(all.front().finding().subject.nics, ElementsAre("n1/mlx5_2:1"));
  EXPECT_THAT(all.front().finding().subject.ranks, ElementsAre(3));
}

TEST(Merge, FaultsOfOtherPartsRanksHostsOrClassesStayApart) {
  const Subject here{.hosts = {"n1"}, .ranks = {3}, .gpus = {"n1/3b"}};
  for (const Candidate& other :
       {candidate("kernel", "gpu.hang", {.hosts = {"n1"}, .gpus = {"n1/4c"}}),
        candidate("kernel", "gpu.hang", {.hosts = {"n1"}, .ranks = {5}}),
        candidate("kernel", "gpu.hang", {.hosts = {"n2"}}),
        candidate("kernel", "gpu.thermal", {.hosts = {"n1"}})}) {
    std::vector<Candidate> all{candidate("remarks", "gpu.hang", here), other};
    merge_of(all);
    EXPECT_THAT(all, SizeIs(2));
    EXPECT_FALSE(all.front().borne_out);
  }
}

TEST(Merge, WhatIsNotTheJobsOrHarmlessBearsNothingOut) {
  for (const bool harmless : {true, false}) {
    std::vector<Candidate> all{candidate("remarks", "host.shm_full", {.hosts = {"n1"}}),
                               candidate("parts", "host.shm_full", {.hosts = {"n1"}})};
    if (harmless)
      all[1].suspicion.verdict = Verdict::healthy;
    else
      all[1].finding().part_of_job = false;
    merge_of(all);
    EXPECT_THAT(all, SizeIs(2));
  }
}

TEST(Merge, OneDetectorsFindingsAreOneOnlyOfAHostAndBearNothingOut) {
  std::vector<Candidate> of_host{
      candidate("kernel", "host.memory_error", {.hosts = {"n1"}}, 0.85),
      candidate("kernel", "host.memory_error", {.hosts = {"n1"}, .ranks = {3}})};
  of_host[1].finding().id = "another";
  merge_of(of_host);
  ASSERT_THAT(of_host, SizeIs(1));
  EXPECT_THAT(of_host.front().finding().subject.ranks, ElementsAre(3));
  EXPECT_FALSE(of_host.front().borne_out);

  std::vector<Candidate> of_gpus{candidate("xid", "gpu.hang", {.hosts = {"n1"}}),
                                 candidate("xid", "gpu.hang", {.hosts = {"n1"}})};
  of_gpus[1].finding().id = "another";
  merge_of(of_gpus);
  EXPECT_THAT(of_gpus, SizeIs(2));
}

TEST(Merge, FindingsOfCallsAreLeftToTheClocks) {
  std::vector<Candidate> all{
      candidate("flight", "software.collective_skipped", {.hosts = {"n1"}, .ranks = {3}}),
      candidate("collective_skipped", "software.collective_skipped",
                {.hosts = {"n1"}, .ranks = {3, 4}})};
  merge_of(all);
  EXPECT_THAT(all, SizeIs(2));
}

TEST(Merge, WhatNamesNoPartIsTheOneOfItsClassThatDoes) {
  for (const bool vague_first : {true, false}) {
    std::vector<Candidate> all{
        candidate("remarks", "host.oom_killed", {}, 0.95),
        candidate("kernel", "host.oom_killed", {.hosts = {"n1"}, .ranks = {3}}, 0.85)};
    if (!vague_first) std::swap(all[0], all[1]);
    merge_of(all);
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all.front().finding().id, "kernel");
    EXPECT_THAT(all.front().finding().subject.ranks, ElementsAre(3));
    EXPECT_TRUE(all.front().borne_out);
  }
}

TEST(Merge, WhatMayBeAnyOfSeveralBearsNoneOut) {
  std::vector<Candidate> all{candidate("kernel", "host.oom_killed", {.hosts = {"n1"}}),
                             candidate("kernel", "host.oom_killed", {.hosts = {"n2"}}),
                             candidate("remarks", "host.oom_killed", {})};
  all[1].finding().id = "kernel of n2";
  merge_of(all);
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_FALSE(all[0].borne_out);
  EXPECT_FALSE(all[1].borne_out);
}

TEST(Merge, WhatHappenedHoursApartIsNotOneEvent) {
  std::vector<Candidate> all{candidate("kernel", "host.oom_killed", {.hosts = {"n1"}}),
                             candidate("remarks", "host.oom_killed", {})};
  all[0].suspicion.since = EventTime::at(Timestamp(std::chrono::hours(5)));
  all[1].suspicion.since = EventTime::at(Timestamp(std::chrono::hours(1)));
  merge_of(all);
  EXPECT_THAT(all, SizeIs(2));
}

TEST(Merge, AnOldSightingAndAReportOfTodayOfOnePartAreTwoWithTwoIds) {
  const Subject gpu{.hosts = {"n1"}, .gpus = {"n1/3a"}};
  std::vector<Candidate> all{candidate("kernel", "pcie.degraded", gpu),
                             candidate("parts", "pcie.degraded", gpu)};
  all[0].finding().id = all[1].finding().id = "f1";
  all[0].finding().part_of_job = false;
  merge_of(all);
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_NE(all[0].finding().id, "f1");
  EXPECT_EQ(all[1].finding().id, "f1");
  EXPECT_TRUE(all[1].finding().part_of_job);
}

TEST(Merge, OneIdIsOneFindingWhoeverFoundItAndSpansTheTimesOfBoth) {
  std::vector<Candidate> all{candidate("xid", "gpu.hang", {.ranks = {3}}),
                             candidate("remarks", "gpu.hang", {.ranks = {3}})};
  all[0].finding().id = all[1].finding().id = "f1";
  all[0].finding().first_seen = Timestamp(std::chrono::hours(2));
  all[0].finding().last_seen = Timestamp(std::chrono::hours(2));
  all[1].finding().first_seen = Timestamp(std::chrono::hours(1));
  all[1].finding().last_seen = Timestamp(std::chrono::hours(3));
  merge_of(all);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_TRUE(all.front().borne_out);
  EXPECT_EQ(all.front().finding().first_seen, Timestamp(std::chrono::hours(1)));
  EXPECT_EQ(all.front().finding().last_seen, Timestamp(std::chrono::hours(3)));
}

TEST(Merge, AStampWithItsZonePlacesWhatOneWithoutLeavesOpen) {
  const Subject rank{.hosts = {"n1"}, .ranks = {3}};
  for (const bool zoned_first : {true, false}) {
    std::vector<Candidate> all{candidate("kernel", "software.rank_crashed", rank),
                               candidate("torch", "software.rank_crashed", rank)};
    const EventTime zoned = EventTime::at(Timestamp(std::chrono::seconds(70)));
    const EventTime bare = EventTime::at(Timestamp(std::chrono::seconds(75)), {}, true);
    all[0].suspicion.since = zoned_first ? zoned : bare;
    all[1].suspicion.since = zoned_first ? bare : zoned;
    merge_of(all);
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all.front().suspicion.since, zoned);
  }
}

TEST(Merge, WhoeverSaysWhyGivesTheTitle) {
  const Subject rank{.hosts = {"n1"}, .ranks = {3}};
  for (const std::size_t says : {0, 1}) {
    std::vector<Candidate> all{candidate("kernel", "software.rank_crashed", rank),
                               candidate("torch", "software.rank_crashed", rank)};
    all[0].finding().title = all[1].finding().title = "killed, and no line says why";
    all[1 - says].suspicion.says_not_why = true;
    all[says].finding().title = "crashed in a library";
    merge_of(all);
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all.front().finding().title, "crashed in a library");
    EXPECT_FALSE(all.front().suspicion.says_not_why);
  }
}

}  // namespace
}  // namespace faultline
