// Where nothing else is found: what the words of lines suggest that no rule reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "job.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void say_unread(Job& job, TroubleKind tells, const std::string& text,
                const std::string& source = "app.log") {
  job.say(Source{.name = source}, Speaker{}, UnreadTrouble{.tells = tells, .text = text}, text);
}

std::vector<std::string> classes_of(const std::vector<Finding>& findings) {
  std::vector<std::string> classes;
  for (const Finding& finding : findings) classes.emplace_back(name_of(finding.cause));
  return classes;
}

TEST(ByWords, ALineThatNobodyReadsIsPossibleWhereNothingElseIsFound) {
  Job job;
  say_unread(job, TroubleKind::hints, "ourfs: mount.ourfs: access denied by server");
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
  ASSERT_THAT(classes_of(diagnosis.root_causes), ElementsAre("host.storage_stall"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_EQ(finding.title,
            "A file system over the network (guessed from the words of a line that no rule "
            "reads)");
  EXPECT_LT(finding.confidence, 0.5);
  ASSERT_EQ(finding.evidence.size(), 1);
  EXPECT_EQ(finding.evidence.front().source, "app.log");
  EXPECT_THAT(diagnosis.unread, IsEmpty()) << "what is told is not listed again";
  ASSERT_EQ(diagnosis.explanation.findings.size(), 1);
  EXPECT_EQ(diagnosis.explanation.findings.front().detector, "by_words");
}

TEST(ByWords, TheHostTheRankAndThePartAreThoseOfTheLine) {
  const auto subject_of = [](const std::string& text, const Speaker& speaker) {
    Job job;
    job.say(Source{.name = "all.log"}, speaker,
            UnreadTrouble{.tells = TroubleKind::hints, .text = text}, text);
    const Diagnosis diagnosis = job.diagnosis();
    return diagnosis.root_causes.empty() ? Subject{} : diagnosis.root_causes.front().subject;
  };
  const Subject nic = subject_of("igb 0000:41:00.0 eth2: Reset adapter", {.host = "n7"});
  EXPECT_THAT(nic.hosts, ElementsAre("n7"));
  EXPECT_THAT(nic.nics, ElementsAre("n7/eth2"));
  const Subject gpu = subject_of("xe 0000:3d:00.0: GT0: reset started", {.host = "n7.cluster"});
  EXPECT_THAT(gpu.hosts, ElementsAre("n7"));
  EXPECT_THAT(gpu.gpus, ElementsAre("n7/0000:3d:00.0"));
  const Subject rank = subject_of("Insufficient memory on accelerator 3", {.rank = 5});
  EXPECT_THAT(rank.ranks, ElementsAre(5));
  EXPECT_THAT(subject_of("There are not enough slots available in the system", {.rank = 5}).ranks,
              IsEmpty())
      << "who says that others are missing is none of them";
}

TEST(ByWords, TheLineThatTellsMoreComesFirstAndOthersAreLessSure) {
  Job job;
  say_unread(job, TroubleKind::fails, "the service could not go on: error");
  say_unread(job, TroubleKind::fails, "igb eth2: Adapter removed", "b.log");
  say_unread(job, TroubleKind::ends, "halt reached");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(classes_of(diagnosis.root_causes),
              ElementsAre("network.nic_failure", "host.service_failed"));
  EXPECT_GT(diagnosis.root_causes[0].confidence, diagnosis.root_causes[1].confidence);
}

TEST(ByWords, WhatARuleUnderstandsOfTheSameHostIsNotGuessedAgain) {
  const auto classes_with = [](const std::string& host) {
    Job job;
    job.kernel(host,
               "EDAC MC1: 1 CE memory scrubbing error on CPU_SrcID#1_Ha#0_Chan#0_DIMM#0 (channel:0 "
               "slot:0)");
    const std::string handling = "EDAC sbridge MC1: HANDLING MCE MEMORY ERROR";
    job.say(Source{.name = "b.txt"}, Speaker{.host = "n7"},
            UnreadTrouble{.tells = TroubleKind::hints, .text = handling}, handling);
    return classes_of(job.diagnosis().root_causes);
  };
  EXPECT_THAT(classes_with("n7"), IsEmpty());
  EXPECT_THAT(classes_with("n8"), ElementsAre("host.memory_error"));
}

TEST(ByWords, NothingIsSaidBesideACauseOrOfAHealthyJob) {
  Job healthy;
  healthy.join_all(4);
  healthy.call(ranks(0, 4), all_reduce(), 100);
  say_unread(healthy, TroubleKind::hints, "igb eth2: Adapter removed");
  EXPECT_EQ(healthy.diagnosis().verdict, Verdict::healthy);
  EXPECT_THAT(healthy.diagnosis().root_causes, IsEmpty());

  Job hung;
  hung.join_all(4);
  hung.call(ranks(0, 4), all_reduce(), 100);
  hung.call(ranks(0, 3), all_reduce(), 100);
  say_unread(hung, TroubleKind::hints, "igb eth2: Adapter removed");
  EXPECT_THAT(classes_of(hung.diagnosis().root_causes), ElementsAre("collective.rank_behind"));
}

TEST(ByWords, AWarningOfWhatMayComeIsNoHint) {
  for (const char* text :
       {"[rank2]:[W305 02:47:10.123456789 ProcessGroupNCCL.cpp:5023] Guessing the device. This can "
        "cause a hang if ranks and GPUs do not match",
        "WARNING 03-05 02:47:10 [experts.py:77] No tuned configuration: speed might be lower, "
        "device config file not found",
        "Installed CUDA version 12.4 does not match the version torch was compiled with 12.1, "
        "accepting this combination"}) {
    Job job;
    say_unread(job, TroubleKind::hints, text);
    EXPECT_THAT(job.diagnosis().root_causes, IsEmpty()) << text;
  }
}

TEST(ByWords, AWarningOfWhatDidHappenIsAHint) {
  for (const char* text :
       {"W0305 02:47:10.100000 41 accel.cc:7] accelerator 2 has fallen off; it could not be reset",
        "[warning] hbm: uncorrectable error on accelerator 5, results may be wrong"}) {
    Job job;
    say_unread(job, TroubleKind::hints, text);
    EXPECT_EQ(job.diagnosis().root_causes.size(), 1U) << text;
  }
}

TEST(ByWords, ALineThatNoHintKnowsIsOnlyUnread) {
  Job job;
  say_unread(job, TroubleKind::fails, "the cake could not be baked");
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  EXPECT_EQ(diagnosis.unread.size(), 1);
}

TEST(ByWords, AHintThatNobodyMakesAnythingOfIsNotShown) {
  Job job;
  say_unread(job, TroubleKind::hints, "the cake fell down");
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
  EXPECT_THAT(job.diagnosis().unread, IsEmpty());
}

}  // namespace
}  // namespace faultline
