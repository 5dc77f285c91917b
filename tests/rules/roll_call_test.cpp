// How many ranks a job has where NCCL's lines do not say, and what is said of ranks that have sent
// nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "flight.h"
#include "job.h"

namespace faultline {
namespace {

using testing::Contains;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Source log_of(int rank) { return {"j", fmt::format("train.rank{}.log", rank), "", -1}; }

void time_out(Job& job, const Source& source, int rank, const std::string& operation = "ALLREDUCE",
              std::uint64_t in = 1024, std::uint64_t out = 1024) {
  const TorchGroup world{.id = 0, .name = "0", .description = "default_pg", .rank = rank};
  job.say(source, Speaker{.rank = rank},
          WatchdogTimeout{.group = world,
                          .sequence = 42,
                          .operation = operation,
                          .numel_in = in,
                          .numel_out = out,
                          .timeout_ms = 600000,
                          .ran_ms = 600050},
          "Watchdog caught collective operation timeout");
}

void launch(Job& job, const std::string& name, const std::string& value) {
  job.say(
      {"j", "launch.sh", "", -1}, Speaker{},
      Setting{.group = name == "WORLD_SIZE" ? "script" : "launch", .name = name, .value = value},
      name + "=" + value);
}

const Check& joined_check(const Diagnosis& diagnosis) { return diagnosis.checklist.front(); }

void expect_rank_5_asked_for(const Diagnosis& diagnosis) {
  EXPECT_EQ(diagnosis.ranks.expected, 8);
  EXPECT_EQ(diagnosis.ranks.seen, 7);
  EXPECT_EQ(joined_check(diagnosis).detail, "7 of 8");
  EXPECT_EQ(joined_check(diagnosis).status, CheckStatus::unknown);
  EXPECT_THAT(diagnosis.missing_evidence,
              Contains(Field(&MissingEvidence::what, HasSubstr("of rank 5"))));
  EXPECT_THAT(diagnosis.missing_evidence,
              Contains(Field(&MissingEvidence::why, HasSubstr("7 of 8 ranks were seen"))));
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  for (const Finding& finding : findings_of(diagnosis))
    EXPECT_THAT(finding.subject.ranks, Not(Contains(5))) << finding.title;
}

TEST(RollCall, LearnsFromALauncherHowManyThereAreAndBlamesNoneForHavingSentNothing) {
  for (const bool by_table : {true, false}) {
    Job job;
    if (by_table) {
      launch(job, "nodes", "2");
      launch(job, "processes", "4");
    } else {
      launch(job, "WORLD_SIZE", "8");
    }
    for (const int rank : all_but(5, 8)) time_out(job, log_of(rank), rank);
    expect_rank_5_asked_for(job.diagnosis());
  }
}

TEST(RollCall, LearnsFromWhatAllRanksGatherHowManyTheyAre) {
  Job job;
  for (const int rank : all_but(5, 8))
    time_out(job, log_of(rank), rank, "_ALLGATHER_BASE", 1000, 8000);
  expect_rank_5_asked_for(job.diagnosis());
}

TEST(RollCall, ReadsTheMembersOfGroupsInDumps) {
  std::vector<int> all(8);
  std::iota(all.begin(), all.end(), 0);
  Job job;
  for (const int rank : all_but(5, 8)) {
    Recorder recorder;
    recorder.group("0", all);
    recorder.record("0", {.state = 'c', .sequence = 1});
    recorder.record("0", {.state = 's', .sequence = 2});
    job.state.apply({.job = "j", .name = fmt::format("nccl_trace_rank_{}", rank)}, recorder.batch(),
                    Timestamp{});
  }
  const Diagnosis diagnosis = job.diagnosis();
  expect_rank_5_asked_for(diagnosis);
  EXPECT_THAT(diagnosis.missing_evidence,
              Contains(Field(&MissingEvidence::what, "the Flight Recorder dump of rank 5")));
}

TEST(RollCall, KnowsThatThereAreRanksBetweenThoseThatALauncherNumbered) {
  Job job;
  for (const int rank : all_but(5, 8)) {
    Speaker speaker = Job::speaker_of(rank);
    speaker.rank = rank;
    job.say({"j", "job.log", "", -1}, speaker,
            Setting{"interface", "bootstrap", "eth0:10.0.0.1<0>"}, "Bootstrap");
  }
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.ranks.expected, 8);
  EXPECT_EQ(diagnosis.ranks.seen, 7);
  EXPECT_THAT(diagnosis.missing_evidence,
              Contains(Field(&MissingEvidence::what, "the NCCL log of rank 5")));
}

// The number in a file's name may count anything.
TEST(RollCall, TakesNoNumberOfAFileForTheNumberOfRanks) {
  Job job;
  for (const int rank : {0, 2, 3}) time_out(job, {"j", "12.log", "", -1}, rank);
  EXPECT_EQ(job.diagnosis().ranks.expected, 0);
}

TEST(RollCall, HoldsTheSilenceOfARankAgainstItWhereItsLogIsThere) {
  Job job;
  launch(job, "WORLD_SIZE", "8");
  for (const int rank : all_but(5, 8)) time_out(job, log_of(rank), rank);
  job.say(log_of(5), Speaker{}, Setting{.group = "script", .name = "NCCL_DEBUG", .value = "WARN"},
          "NCCL_DEBUG=WARN");
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.ranks.seen, 8);
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_EQ(diagnosis.root_causes.front().cause, "collective.rank_behind");
  EXPECT_EQ(diagnosis.root_causes.front().subject.ranks, std::vector<int>{5});
}

TEST(RollCall, IsNotMadeSmallerByAScriptThatStartsLess) {
  Job job;
  launch(job, "WORLD_SIZE", "2");
  job.join_all(8);
  EXPECT_EQ(job.diagnosis().ranks.expected, 8);
}

}  // namespace
}  // namespace faultline
