// What is told by the words of lines that no rule understands, where nothing else is found.
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
  EXPECT_EQ(
      finding.title,
      "Perhaps a file system over the network, by the words of a line that no rule understands");
  EXPECT_LT(finding.confidence, 0.5);
  ASSERT_EQ(finding.evidence.size(), 1);
  EXPECT_EQ(finding.evidence.front().source, "app.log");
  EXPECT_THAT(diagnosis.unread, IsEmpty()) << "what is told is not listed again";
  ASSERT_EQ(diagnosis.explanation.findings.size(), 1);
  EXPECT_EQ(diagnosis.explanation.findings.front().detector, "by_words");
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
