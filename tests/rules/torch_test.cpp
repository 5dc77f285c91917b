#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "job.h"
#include "rules/knowledge/limits.h"

namespace faultline {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const Timestamp kStart{std::chrono::sys_days{std::chrono::year{2026} / 3 / 5} + 2h};

EventTime unzoned_at(std::chrono::seconds after) { return EventTime::at(kStart + after, 1s, true); }

// PyTorch's lines name the rank, but neither host nor pid.
class TorchJob {
 public:
  TorchGroup group_of(int rank) const {
    return {.id = 0, .name = "0", .description = "default_pg", .rank = rank};
  }

  void time_out(int rank, std::uint64_t sequence, const std::string& operation = "ALLREDUCE",
                std::uint64_t numel = 1024, const TorchGroup& group = {},
                std::uint64_t times_out = 1) {
    WatchdogTimeout timeout{.group = group,
                            .sequence = sequence,
                            .operation = operation,
                            .numel_in = numel,
                            .numel_out = numel * times_out,
                            .timeout_ms = 600000,
                            .ran_ms = 600050};
    say(rank, timeout, "Watchdog caught collective operation timeout", unzoned_at(700s));
  }
  void stand(int rank, std::int64_t enqueued, std::int64_t completed,
             std::optional<std::uint64_t> failed = {}) {
    say(rank,
        WatchdogStatus{.group = group_of(rank),
                       .teller = failed ? "failure" : "signal",
                       .failed = failed,
                       .enqueued = enqueued,
                       .completed = completed},
        "last enqueued work", unzoned_at(700s));
  }
  void be_told(int rank, int by = -1) {
    say(rank, DumpSignal{.group = group_of(rank), .from = "other", .from_rank = by},
        "Observed flight recorder dump signal from another rank via TCPStore.", unzoned_at(701s));
  }
  void raise(int rank, const std::string& type, const std::string& message, EventTime time = {},
             bool original = false) {
    PythonException exception{.type = type,
                              .message = message,
                              .file = "/opt/train/dataset.py",
                              .file_line = 88,
                              .function = "__getitem__",
                              .original = original};
    exception.lines = {{1, 0, "Traceback (most recent call last):"},
                       {3, 90, type + ": " + message}};
    say(rank, exception, type + ": " + message, time);
  }
  void warn(int rank, const std::string& text, EventTime time = {}) {
    say(rank, Remark{.dialect = "torch", .text = text}, text, time);
  }
  void exit(ProcessExit exit, EventTime time = {}) {
    job.say({"j", "launcher.log", "", -1}, Speaker{}, std::move(exit), "exit", time);
  }
  void say(int rank, Fact fact, const std::string& text, EventTime time) {
    job.say({"j", "all.log", "", -1}, Speaker{.rank = rank}, std::move(fact), text, time);
  }

  Diagnosis diagnosis() const { return job.diagnosis(); }

  Job job;
};

const Finding* finding_of(const std::vector<Finding>& findings, std::string_view cause) {
  for (const Finding& finding : findings)
    if (finding.cause == cause) return &finding;
  return nullptr;
}

TEST(Torch, NamesTheRankThatWasOnlyToldOfATimeoutAndNeverEnteredTheCall) {
  TorchJob job;
  for (int rank : all_but(5, 8)) {
    job.time_out(rank, 42);
    job.stand(rank, 44, 41, 42);
  }
  job.be_told(5, 0);
  job.stand(5, 41, 41);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"collective.rank_behind"});
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(5));
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  const Finding* timeout = finding_of(diagnosis.symptoms, "collective.timeout");
  ASSERT_NE(timeout, nullptr);
  EXPECT_THAT(timeout->title, HasSubstr("7"));
  EXPECT_THAT(timeout->title, HasSubstr("rank 5 only heard of it from them"));
  ASSERT_TRUE(timeout->first_seen.has_value());
  EXPECT_EQ(*timeout->first_seen, kStart + 99s + 950ms);  // the stamp minus the call's duration
}

// Older versions print a line without the group; the lines after it name the group, unless cut off.
TEST(Torch, ATimeOutOfAGroupThatNoLineNamesIsOfTheGroupThatWaitsInTheSameCall) {
  TorchJob job;
  job.time_out(0, 7, "ALLREDUCE", 128, job.group_of(0));
  job.time_out(2, 7, "ALLREDUCE", 128, job.group_of(2));
  job.time_out(1, 7, "ALLREDUCE", 128);
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(finding_of(diagnosis.root_causes, "collective.rank_behind"), nullptr);
  const Finding* timeout = finding_of(diagnosis.root_causes, "collective.timeout");
  ASSERT_NE(timeout, nullptr);
  EXPECT_THAT(timeout->title, HasSubstr("Ranks 0, 1, 2 timed out in ALLREDUCE 7"));
}

TEST(Torch, ATimeOutInAnotherCallIsNotOfThatGroup) {
  TorchJob job;
  for (int rank : all_but(1, 4)) job.time_out(rank, 7, "ALLREDUCE", 128, job.group_of(rank));
  job.time_out(1, 3, "BROADCAST", 128);
  const Diagnosis diagnosis = job.diagnosis();
  for (const auto* findings : {&diagnosis.root_causes, &diagnosis.symptoms}) {
    for (const Finding& finding : *findings) {
      EXPECT_THAT(finding.title, Not(HasSubstr("Ranks 0, 1, 2 timed out"))) << finding.title;
    }
  }
}

TEST(Torch, WhoseParametersGotNoGradientIsToldByWhoSaysIt) {
  // DDP numbers ranks in its own group: rank 11 of the job is rank 3 there.
  TorchJob job;
  job.job.join_all(16);
  job.raise(11, "RuntimeError",
            "Expected to have finished reduction in the prior iteration before starting a new one.",
            unzoned_at(30s));
  job.say(11, UnusedParameters{.rank = 3, .names = {"290", "291"}},
          "Parameter indices which did not receive grad for rank 3: 290 291", unzoned_at(30s));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"software.unused_parameters"});
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(11));
}

TEST(Torch, NamesTheRankThatSaysNothingWhereAllOthersTimeOut) {
  TorchJob job;
  job.job.join_all(8);
  for (int rank : all_but(2, 8)) job.time_out(rank, 7);
  const Diagnosis diagnosis = job.diagnosis();
  const Finding* behind = finding_of(diagnosis.root_causes, "collective.rank_behind");
  ASSERT_NE(behind, nullptr);
  EXPECT_THAT(behind->subject.ranks, ElementsAre(2));
  EXPECT_THAT(behind->subject.hosts, ElementsAre("node-0"));
}

constexpr const char* kLeft =
    "Warning: WARNING: destroy_process_group() was not called before program exit, which can leak "
    "resources.";

TEST(Torch, NamesTheRankWhoseProgramEndedWhileTheOthersWaited) {
  TorchJob job;
  job.say(0,
          Remark{.dialect = "nccl",
                 .level = "warn",
                 .text = "socketProgress: Connection closed by remote peer "},
          "socketProgress: Connection closed by remote peer ", unzoned_at(109s));
  job.warn(4, kLeft, unzoned_at(111s));
  for (int rank : all_but(4, 6)) job.time_out(rank, 42, "ALLREDUCE", 1024, job.group_of(rank));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"software.collective_skipped"});
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(4));
  EXPECT_THAT(diagnosis.root_causes[0].title,
              HasSubstr("without entering ALLREDUCE 42 of default_pg"));
  EXPECT_THAT(causes(diagnosis.symptoms), Contains("network.peer_lost"));
}

// The rank ended later, after an error of its own, or together with its peers.
TEST(Torch, TheEndOfAProgramThatTellsWhyOrComesLaterIsNoCallThatWasLeftOut) {
  const auto skipped = [](const TorchJob& job) {
    return finding_of(job.diagnosis().root_causes, "software.collective_skipped") != nullptr;
  };
  const auto wait_for_the_fourth = [](TorchJob& job) {
    for (int rank : all_but(4, 6)) job.time_out(rank, 42, "ALLREDUCE", 1024, job.group_of(rank));
  };
  TorchJob later;
  wait_for_the_fourth(later);
  later.warn(4, kLeft, unzoned_at(730s));
  EXPECT_FALSE(skipped(later));

  TorchJob raised;
  raised.raise(4, "KeyError", "'labels'", unzoned_at(110s));
  raised.warn(4, kLeft, unzoned_at(111s));
  wait_for_the_fourth(raised);
  EXPECT_FALSE(skipped(raised));
  EXPECT_EQ(raised.diagnosis().root_causes.front().cause, "software.rank_crashed");

  TorchJob helper;  // the line is a helper's, and the rank went on
  for (int line = 0; line < 40; ++line)
    helper.job.say({"j", "rank4.log", "", -1}, Speaker{.rank = 4},
                   Remark{.dialect = "torch", .text = line == 0 ? kLeft : "a batch of 12"},
                   line == 0 ? kLeft : "a batch of 12", unzoned_at(111s));
  wait_for_the_fourth(helper);
  EXPECT_FALSE(skipped(helper));

  TorchJob most;  // only one of six waits, in a call that no other rank made
  for (int rank : {1, 2, 3, 4, 5}) most.warn(rank, kLeft, unzoned_at(111s));
  most.time_out(0, 42, "ALLREDUCE", 1024, most.group_of(0));
  EXPECT_FALSE(skipped(most));

  TorchJob healthy;
  for (int rank = 0; rank < 6; ++rank) healthy.warn(rank, kLeft, unzoned_at(111s));
  EXPECT_THAT(healthy.diagnosis().root_causes, IsEmpty());
  EXPECT_NE(healthy.diagnosis().verdict, Verdict::hang);
}

TEST(Torch, ALineThatWasCutStillSaysThatItsRankWaits) {
  TorchJob job;
  for (int rank : all_but(2, 8)) job.time_out(rank, 7);
  job.warn(2,
           "[Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLR",
           unzoned_at(700s));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(finding_of(diagnosis.root_causes, "collective.rank_behind"), nullptr);
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
}

TEST(Torch, ALineThatWasCutIsATimeOutWhereNoWholeOneTellsMore) {
  TorchJob job;
  job.warn(2,
           "[Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLR",
           unzoned_at(700s));
  const Diagnosis alone = job.diagnosis();
  EXPECT_EQ(alone.verdict, Verdict::hang);
  EXPECT_EQ(causes(alone.root_causes), std::vector<std::string>{"collective.timeout"});
  job.time_out(3, 7);
  const Diagnosis beside = job.diagnosis();
  ASSERT_EQ(causes(beside.root_causes), std::vector<std::string>{"collective.timeout"});
  EXPECT_THAT(beside.root_causes[0].title, HasSubstr("ALLREDUCE 7"));
}

TEST(Torch, NamesTheOneNumberThatIsLeftOutOfALogOfAllRanks) {
  TorchJob job;
  for (int rank : all_but(2, 8)) job.time_out(rank, 7);
  const Diagnosis diagnosis = job.diagnosis();
  const Finding* behind = finding_of(diagnosis.root_causes, "collective.rank_behind");
  ASSERT_NE(behind, nullptr);
  EXPECT_THAT(behind->subject.ranks, ElementsAre(2));
  EXPECT_LT(behind->confidence, 0.89);
}

TEST(Torch, SaysWhereTheMissingRankStandsIfItsStackWasDumped) {
  TorchJob job;
  job.job.join_all(8);
  for (int rank : all_but(2, 8)) job.time_out(rank, 7);
  job.job.say({"j", "stacks.txt", "", -1}, Speaker{},
              StackTop{.tool = "py-spy",
                       .pid = 1002,
                       .thread = "MainThread",
                       .frames = {"__getitem__ (dataset.py:88)", "main (train.py:12)"}},
              "Thread 1002 (idle): \"MainThread\"", {});
  const Diagnosis diagnosis = job.diagnosis();
  const Finding* behind = finding_of(diagnosis.root_causes, "collective.rank_behind");
  ASSERT_NE(behind, nullptr);
  EXPECT_THAT(behind->title, HasSubstr("it reads its data, in __getitem__ (dataset.py:88)"));
}

TEST(Torch, GroupsOfDifferentRanksThatBearOneNumberAreNotCompared) {
  TorchJob job;
  for (int rank : ranks(0, 3)) job.time_out(rank, 9, "ALLREDUCE", 1024, {.id = 1, .rank = rank});
  job.time_out(3, 9, "BROADCAST", 16, {.id = 1, .rank = 0});
  EXPECT_EQ(causes(job.diagnosis().root_causes), std::vector<std::string>{"collective.timeout"});
}

TEST(Torch, AccusesNobodyWhereOnlyTheLogOfOneWaiterIsThere) {
  TorchJob job;
  job.time_out(1, 6463);
  job.stand(1, 6463, 6462, 6463);
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"collective.timeout"});
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, IsEmpty());
}

TEST(Torch, AccusesNobodyWhereManyRanksWereOnlyTold) {
  TorchJob job;
  job.time_out(7, 42);
  for (int rank : ranks(0, 7)) job.be_told(rank, 7);
  EXPECT_EQ(causes(job.diagnosis().root_causes), std::vector<std::string>{"collective.timeout"});
}

TEST(Torch, ACallThatAllEnteredIsStalledAndNobodysFault) {
  TorchJob job;
  job.job.join_all(4);
  for (int rank : ranks(0, 4)) {
    job.time_out(rank, 42);
    job.stand(rank, 43, 41, 42);
  }
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(finding_of(diagnosis.root_causes, "collective.rank_behind"), nullptr);
  EXPECT_NE(finding_of(diagnosis.root_causes, "collective.stalled"), nullptr);
}

TEST(Torch, TheOddCallAtTheSameNumberIsAMismatch) {
  TorchJob job;
  for (int rank : all_but(3, 4)) job.time_out(rank, 9, "ALLREDUCE", 1024);
  job.time_out(3, 9, "BROADCAST", 16);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes),
            std::vector<std::string>{"software.collective_mismatch"});
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(3));
}

// AllGathers that begin together are one COALESCED, and so are Sends. Only Sends may have other
// sizes on each rank.
TEST(Torch, AllGathersOfOtherSizesThatBeginTogetherAreAMismatch) {
  for (const bool gathers : {true, false}) {
    TorchJob job;
    for (int rank : all_but(3, 4)) job.time_out(rank, 9, "COALESCED", 512, {}, gathers ? 4 : 1);
    job.time_out(3, 9, "COALESCED", 768, {}, gathers ? 4 : 1);
    const Diagnosis diagnosis = job.diagnosis();
    const Finding* mismatch = finding_of(diagnosis.root_causes, "software.collective_mismatch");
    ASSERT_EQ(mismatch != nullptr, gathers);
    if (gathers) {
      EXPECT_THAT(mismatch->subject.ranks, ElementsAre(3));
    }
  }
}

TEST(Torch, OfCallsThatBeganInOneSecondNoneIsCalledTheFirst) {
  TorchJob job;
  job.time_out(0, 1516, "ALLREDUCE", 1024, {.name = "7"});
  job.time_out(1, 12, "ALLREDUCE", 1, {.name = "8"});
  const Diagnosis diagnosis = job.diagnosis();
  const Finding* timeout = finding_of(diagnosis.root_causes, "collective.timeout");
  ASSERT_NE(timeout, nullptr);
  EXPECT_THAT(timeout->title, testing::Not(testing::HasSubstr("first in")));
}

TEST(Torch, RanksThatWaitForEachOtherInCallsFarApartHaveCalledDifferentThings) {
  const auto mismatch_of = [](int ranks, std::uint64_t later, const TorchGroup& group = {}) {
    TorchJob job;
    for (int rank = 0; rank < ranks; ++rank)
      job.time_out(rank, rank % 2 == 0 ? 122 : later, rank % 2 == 0 ? "_REDUCE_SCATTER_BASE" : "X",
                   1024, group);
    const Diagnosis diagnosis = job.diagnosis();
    const Finding* mismatch = finding_of(diagnosis.root_causes, "software.collective_mismatch");
    return mismatch == nullptr ? std::string() : mismatch->title;
  };
  EXPECT_EQ(mismatch_of(2, 126),
            "Rank 0 in _REDUCE_SCATTER_BASE 122 and rank 1 in X 126 wait for each other");
  EXPECT_THAT(mismatch_of(8, 126, {.id = 0, .name = "0", .description = "default_pg"}),
              HasSubstr("and ranks 1, 3, 5, 7 in X 126 of default_pg wait for each other"));
  EXPECT_EQ(mismatch_of(8, 126), "") << "they may be of several groups";
  EXPECT_EQ(mismatch_of(2, 126, {.name = "7"}), "") << "a group that others may belong to";
  EXPECT_EQ(mismatch_of(2, 123), "") << "one may have come out of the call, and the other not";
}

TEST(Torch, OfTwoRanksThatDifferNeitherIsTheOddOne) {
  TorchJob job;
  job.time_out(0, 9, "ALLREDUCE", 1024);
  job.time_out(1, 9, "BROADCAST", 16);
  const Diagnosis diagnosis = job.diagnosis();
  const Finding* mismatch = finding_of(diagnosis.root_causes, "software.collective_mismatch");
  ASSERT_NE(mismatch, nullptr);
  EXPECT_THAT(mismatch->subject.ranks, ElementsAre(0, 1));
}

TEST(Torch, TheFirstExceptionIsTheCauseAndNcclErrorsOfTheOthersFollow) {
  TorchJob job;
  job.raise(5, "ValueError", "Caught ValueError in DataLoader worker process 3.");
  job.raise(5, "ValueError", "sample 1234 is truncated", {}, true);
  for (int rank : all_but(5, 64))
    job.raise(
        rank, "torch.distributed.DistBackendError",
        "NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1251, remote process "
        "exited or there was a network error, NCCL version 2.18.6");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"software.rank_crashed"});
  const Finding& crash = diagnosis.root_causes[0];
  EXPECT_THAT(crash.subject.ranks, ElementsAre(5));
  EXPECT_THAT(crash.title, HasSubstr("sample 1234 is truncated"));
  EXPECT_EQ(crash.evidence.front().text, "Traceback (most recent call last):");
  EXPECT_GE(crash.evidence.size(), 2U);
  EXPECT_NE(finding_of(diagnosis.symptoms, "nccl.error"), nullptr);
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
}

constexpr const char* kOfNccl =
    "NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2006, unhandled cuda "
    "error, "
    "NCCL version 2.21.5";

TEST(Torch, WhatAnExceptionQuotesOfNcclIsTheCause) {
  TorchJob job;
  job.raise(3, "torch.distributed.DistBackendError",
            std::string(kOfNccl) + "; last error: Cuda failure 2 'out of memory'");
  job.raise(5, "torch.distributed.DistBackendError", kOfNccl);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"software.cuda_oom"});
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(3));
  EXPECT_THAT(diagnosis.root_causes[0].title, testing::StartsWith("Rank 3 "));
}

TEST(Torch, WhatIsQuotedOfTheOtherEndAccusesNobody) {
  TorchJob job;
  job.raise(3, "torch.distributed.DistBackendError",
            std::string(kOfNccl) +
                "; last error: socketPollConnect: connect to 10.0.0.7<41000> returned Connection "
                "refused, exceeded error retry count (35)");
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"nccl.error"});
}

TEST(Torch, AParentSaysNothingBesideTheErrorOfItsChild) {
  for (const char* parents : {"Exception", "torch.multiprocessing.spawn.ProcessRaisedException"}) {
    TorchJob follows;
    follows.raise(-1, parents, "");
    follows.raise(-1, "torch.distributed.DistBackendError", kOfNccl, {}, true);
    EXPECT_EQ(causes(follows.diagnosis().root_causes), std::vector<std::string>{"nccl.error"});
    TorchJob fails;
    fails.raise(-1, parents, "");
    fails.raise(-1, "ValueError", "sample 1234 is truncated", {}, true);
    const Diagnosis diagnosis = fails.diagnosis();
    ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"software.rank_crashed"});
    EXPECT_THAT(diagnosis.root_causes[0].title, HasSubstr("sample 1234 is truncated"));
  }
}

TEST(Torch, AnExceptionOfCppIsACrash) {
  TorchJob job;
  job.say(3, PythonException{.type = "a C++ exception", .message = "basic_string::_M_create"},
          "  what():  basic_string::_M_create", {});
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"software.rank_crashed"});
  EXPECT_THAT(diagnosis.root_causes[0].title,
              HasSubstr("raised a C++ exception: basic_string::_M_create"));
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
}

TEST(Torch, AWatchdogThatStoodStillIsAHang) {
  for (const bool gil : {false, true}) {
    TorchJob job;
    job.say(3, WatchdogStuck{.group = job.group_of(3), .seconds = 600, .gil = gil},
            "Heartbeat monitor timed out!", unzoned_at(700s));
    const Diagnosis diagnosis = job.diagnosis();
    EXPECT_EQ(diagnosis.verdict, Verdict::hang);
    ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"collective.timeout"});
    EXPECT_THAT(diagnosis.root_causes[0].title,
                HasSubstr(gil ? "Python's lock" : "no progress in NCCL or CUDA"));
    EXPECT_LT(diagnosis.root_causes[0].confidence, limits::least_to_blame);
  }
}

TEST(Torch, AWatchdogThatStoodStillIsToldBesideATimeOutOfAnotherRank) {
  for (const int stood : {2, 5}) {
    TorchJob job;
    job.time_out(2, 42);
    job.say(stood, WatchdogStuck{.group = job.group_of(stood), .seconds = 480},
            "watchdog got stuck for 480 seconds", unzoned_at(700s));
    const Diagnosis diagnosis = job.diagnosis();
    ASSERT_THAT(diagnosis.root_causes, testing::SizeIs(stood == 2 ? 1 : 2))
        << "it timed out itself";
    EXPECT_THAT(diagnosis.root_causes[0].title, testing::StartsWith("Rank 2 timed out"));
    if (stood == 2) continue;
    EXPECT_THAT(diagnosis.root_causes[1].title,
                testing::StartsWith("Rank 5 ended because its watchdog"));
    EXPECT_LT(diagnosis.root_causes[1].confidence, diagnosis.root_causes[0].confidence);
  }
}

TEST(Torch, AWatchdogThatStoodStillAfterItWasToldOfATimeOutTellsNothing) {
  TorchJob job;
  job.time_out(2, 42);
  job.be_told(5, 2);
  job.say(5, WatchdogStuck{.group = job.group_of(5), .seconds = 480},
          "watchdog got stuck for 480 seconds", unzoned_at(700s));
  EXPECT_THAT(job.diagnosis().root_causes, testing::SizeIs(1));
}

TEST(Torch, AWatchdogThatStoodStillWithoutARankIsOnlyToldWhereNoneTimedOut) {
  for (const bool another_timed_out : {false, true}) {
    TorchJob job;
    if (another_timed_out) job.time_out(2, 42);
    job.job.say({"j", "all.log", "", -1}, Speaker{}, WatchdogStuck{.seconds = 480},
                "watchdog got stuck for 480 seconds", unzoned_at(700s));
    const Diagnosis diagnosis = job.diagnosis();
    ASSERT_THAT(diagnosis.root_causes, testing::SizeIs(1));
    EXPECT_THAT(diagnosis.root_causes[0].title,
                testing::StartsWith(another_timed_out ? "Rank 2 timed out" : "A rank ended"));
  }
}

TEST(Torch, AnExceptionAfterWhichTheRankGoesOnWasCaught) {
  for (const bool goes_on : {true, false}) {
    Job job;
    job.join_all(4);
    job.call(ranks(0, 4), all_reduce(), 5);
    job.say(Job::source_of(2), Speaker{.rank = 2},
            PythonException{.type = "TimeoutError",
                            .message = "metrics server",
                            .lines = {{7, 600, "TimeoutError: metrics server"}}},
            "TimeoutError: metrics server");
    if (goes_on) job.call(ranks(0, 4), all_reduce(), 5);
    const Diagnosis diagnosis = job.diagnosis();
    EXPECT_EQ(finding_of(diagnosis.root_causes, "software.rank_crashed") == nullptr, goes_on);
    EXPECT_EQ(diagnosis.verdict == Verdict::healthy, goes_on);
  }
}

TEST(Torch, ErrorsThatFollowFromSomethingNameNoCulprit) {
  TorchJob job;
  for (int rank : ranks(0, 8))
    job.raise(rank, "torch.distributed.DistBackendError",
              "NCCL communicator was aborted on rank 0.");
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"nccl.error"});
}

TEST(Torch, AnExceptionAfterItsOwnTimeoutIsNotTheCause) {
  TorchJob job;
  for (int rank : ranks(0, 4)) job.time_out(rank, 42);
  job.raise(2, "RuntimeError", "the trainer gives up");
  EXPECT_EQ(finding_of(job.diagnosis().root_causes, "software.rank_crashed"), nullptr);
}

TEST(Torch, MemoryThatRanOutOnOneGpuExplainsTheTimeoutsOfTheOthers) {
  TorchJob job;
  job.raise(
      3, "torch.OutOfMemoryError",
      "CUDA out of memory. Tried to allocate 1.26 GiB. GPU 3 has a total capacity of 79.15 GiB");
  for (int rank : all_but(3, 8)) job.time_out(rank, 42);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"software.cuda_oom"});
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(3));
}

TEST(Torch, AKillBeforeTheOthersAbortsIsTheCause) {
  TorchJob job;
  job.exit({.teller = "torchrun",
            .host = "gpu-7",
            .ranks = {3},
            .pid = 7,
            .exit_code = -9,
            .signal = 9,
            .first = true},
           unzoned_at(10s));
  job.exit(
      {.teller = "torchrun", .host = "gpu-7", .ranks = {5}, .pid = 9, .exit_code = -6, .signal = 6},
      unzoned_at(12s));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"host.oom_killed"});
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(3));
  EXPECT_THAT(diagnosis.root_causes[0].subject.hosts, ElementsAre("gpu-7"));
  EXPECT_LT(diagnosis.root_causes[0].confidence, 0.5);  // no line says who killed it
  EXPECT_THAT(causes(diagnosis.symptoms), Contains("software.rank_crashed"));
}

TEST(Torch, AKillForMemoryIsOneWhereTheSchedulerSaysSo) {
  TorchJob job;
  job.exit({.teller = "srun", .host = "gpu-7", .ranks = {3}, .reason = "Out Of Memory"});
  job.exit(
      {.teller = "srun", .host = "gpu-7", .ranks = {0, 1, 2}, .signal = 9, .reason = "Killed"});
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"host.oom_killed"});
  EXPECT_THAT(diagnosis.root_causes[0].subject.hosts, ElementsAre("gpu-7"));
}

TEST(Torch, AKillOfAnUnknownProcessFollowsFromWhatSlurmSaysOfMemory) {
  TorchJob job;
  job.exit({.teller = "shell", .pid = 259449, .signal = 9, .reason = "Killed"});
  job.job.say(
      {"j", "launcher.log", "", -1}, Speaker{},
      Remark{.text = "slurmstepd: error: Detected 1 oom_kill event in StepId=77123.batch. Some "
                     "of the step tasks have been OOM Killed."},
      "slurmstepd", {});
  EXPECT_EQ(causes(job.diagnosis().root_causes), std::vector<std::string>{"host.oom_killed"});
}

TEST(Torch, LinesWithoutALabelBelongToTheRankThatTheyName) {
  TorchJob job;
  job.raise(-1, "RuntimeError", "CUDA error: an illegal memory access was encountered");
  job.warn(-1,
           "[Rank 6] NCCL watchdog thread terminated with exception: CUDA error: an illegal memory "
           "access was encountered");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"software.gpu_memory_fault"});
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(6));
}

TEST(Torch, ALineThatOnlyHoldsAWordOfASignatureIsNoCrash) {
  TorchJob job;
  job.warn(-1, "        \"OOMKilled\": false,");
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

TEST(Torch, AKillThatOnlyTheAgentTellsOfNamesTheProcess) {
  TorchJob job;
  job.exit({.teller = "torchrun", .local_rank = 3, .pid = 4711, .exit_code = -9, .signal = 9});
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"process.aborted"});
  EXPECT_EQ(diagnosis.root_causes[0].title,
            "Local rank 3 (process 4711) was killed by SIGKILL, and no line says why");
}

TEST(Torch, WhomSlurmKillsAfterItEndedTheStepDidNotCrash) {
  const auto job_of = [](bool killed_before) {
    TorchJob job;
    const Source source{"j", "slurm.out", "", -1};
    const auto kill = [&](int task) {
      job.job.say(
          source, Speaker{},
          ProcessExit{
              .teller = "srun", .host = "gpu-7", .ranks = {task}, .signal = 9, .reason = "Killed"},
          "srun: error: gpu-7: task: Killed", {});
    };
    if (killed_before) kill(3);
    job.job.say(source, Speaker{},
                Remark{.dialect = "torch",
                       .text = "slurmstepd: error: *** STEP 4.0 ON gpu-7 CANCELLED AT "
                               "2026-03-05T02:48:30 DUE TO TIME LIMIT ***"},
                "slurmstepd", {});
    kill(0);
    return job;
  };
  const Diagnosis ended = job_of(false).diagnosis();
  ASSERT_EQ(causes(ended.root_causes), std::vector<std::string>{"process.aborted"});
  EXPECT_EQ(ended.root_causes[0].title, "Slurm ended STEP 4.0 at its time limit");
  const Diagnosis killed = job_of(true).diagnosis();
  const Finding* crash = finding_of(killed.root_causes, "software.rank_crashed");
  ASSERT_NE(crash, nullptr);
  EXPECT_THAT(crash->subject.ranks, ElementsAre(3));
}

TEST(Torch, WhatTheAgentsTableTellsOfAProcessCountsAlone) {
  TorchJob job;
  job.exit({.teller = "torchrun", .local_rank = 3, .pid = 4711, .exit_code = -9, .signal = 9});
  job.exit({.teller = "torchrun",
            .host = "gpu-7",
            .ranks = {11},
            .local_rank = 3,
            .pid = 4711,
            .exit_code = -9,
            .signal = 9,
            .first = true});
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"host.oom_killed"});
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(11));
  EXPECT_EQ(diagnosis.root_causes[0].count, 1U);
}

TEST(Torch, RanksThatTheirLauncherEndedAreNobodysFault) {
  TorchJob job;
  job.exit({.teller = "torchrun", .pid = 7, .signal = 15, .told_to = true});
  job.exit(
      {.teller = "srun", .host = "gpu-8", .ranks = {8, 9}, .signal = 15, .reason = "Terminated"});
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

TEST(Torch, AMajorityOfFingerprintsTellsTheOddRank) {
  TorchJob job;
  for (int rank : {0, 1}) {
    job.say(rank,
            CalledCollective{.rank = rank, .own = true, .operation = "ALLGATHER", .shape = "4"},
            "Rank is running collective", {});
    job.say(rank, CalledCollective{.rank = 2, .operation = "ALLGATHER"}, "but Rank 2", {});
  }
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes),
            std::vector<std::string>{"software.collective_mismatch"});
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(2));
}

TEST(Torch, ABarrierNamesWhoDidNotCome) {
  TorchJob job;
  job.say(0, BarrierMissed{.ranks = {1, 2}, .timeout_ms = 2000, .all_named = true}, "barrier", {});
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"collective.rank_behind"});
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(1, 2));
}

TEST(Torch, WhatNcclSaysOfTheSameRankIsOneFindingWithIt) {
  TorchJob job;
  job.job.join_all(8);
  job.job.call(ranks(0, 8), all_reduce(), 10);
  job.job.call(all_but(5, 8), all_reduce(), 1);
  for (int rank : all_but(5, 8)) job.time_out(rank, 11);
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(causes(diagnosis.root_causes), std::vector<std::string>{"collective.rank_behind"});
}

TEST(Torch, TheNoiseOfAGoodEndIsNoFailure) {
  TorchJob job;
  job.warn(1,
           "[c10d] recvValue failed on SocketImpl(fd=73): Failed to recv, got 0 bytes. Connection "
           "was likely closed. Did the remote server shutdown or crash?");
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

}  // namespace
}  // namespace faultline
