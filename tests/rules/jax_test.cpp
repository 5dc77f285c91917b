// JAX's coordination service: tasks that did not come to a barrier, and tasks that fell silent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void tell(Job& job, int process, const std::string& what, const std::vector<int>& tasks,
          const std::string& barrier = "ckpt_write::4") {
  job.say({"j", fmt::format("worker-{}.log", process), "", process}, Speaker{},
          DesyncEntry{.ranks = tasks, .what = what, .operation = barrier},
          "Barrier timed out. Id: " + barrier);
}

TEST(Jax, TasksThatDidNotComeToABarrierAreWaitedForWhoeverTellsIt) {
  Job job;
  for (int process = 0; process < 8; ++process) tell(job, process, "not_at_barrier", {3, 5});
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("collective.rank_behind"));
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(3, 5));
  EXPECT_THAT(diagnosis.root_causes[0].title, HasSubstr("did not come to ckpt_write::4"));
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
}

TEST(Jax, AListThatIsCutSaysThatOthersMayBeMissing) {
  Job job;
  tell(job, 0, "some_not_at_barrier", {3});
  EXPECT_THAT(job.diagnosis().root_causes.at(0).title, HasSubstr("others may be missing"));
}

TEST(Jax, ATaskWithoutHeartbeatsIsSilent) {
  Job job;
  for (int process = 0; process < 4; ++process) tell(job, process, "silent", {2}, "");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("process.silent"));
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(2));
}

}  // namespace
}  // namespace faultline
