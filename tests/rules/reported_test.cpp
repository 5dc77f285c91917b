// What ncclras, NCCL's Inspector and proxy dumps say of a job, and what a diagnosis makes of it.
#include "rules/detect/reported.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"

namespace faultline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kWorld = "0xcf264af53edbe986";

class Reported : public testing::Test {
 protected:
  static std::string address_of(int rank) { return fmt::format("10.20.0.{}", 11 + rank / 8); }

  RankReport rank_report(int rank, int nranks = 16, const std::string& id = kWorld) const {
    return {.tool = "ncclras",
            .communicator_id = id,
            .nranks = nranks,
            .rank = rank,
            .host = address_of(rank),
            .pid = 1000 + rank,
            .cuda_device = rank % 8,
            .state = names_all ? "running" : ""};
  }

  void open(bool with_all = false) {
    names_all = with_all;
    job.report(ReportOpened{.tool = "ncclras", .names_all = with_all}, "Communicators... (0.05s)");
  }
  void communicator(const std::string& status, const std::string& errors, int nranks = 16,
                    const std::string& id = kWorld) {
    job.report(CommunicatorReport{.tool = "ncclras",
                                  .communicator_id = id,
                                  .nranks = nranks,
                                  .status = status,
                                  .errors = errors},
               fmt::format("#0-0 ({}) {}", id, errors));
  }
  void crowd(int ranks, std::uint64_t launched, const std::string& operation = "AllReduce",
             int nranks = 16) {
    job.report(RankReport{.tool = "ncclras",
                          .communicator_id = kWorld,
                          .nranks = nranks,
                          .ranks = ranks,
                          .operation = operation,
                          .launched = launched},
               fmt::format("{} ranks have launched up to operation {}", ranks, launched));
  }
  void launched(int rank, std::uint64_t count, const std::string& operation = "AllReduce",
                int nranks = 16, const std::string& id = kWorld) {
    RankReport report = rank_report(rank, nranks, id);
    report.operation = operation;
    report.launched = count;
    job.report(report, fmt::format("Rank {} has launched up to operation {}", rank, count));
  }
  void state(int rank, const std::string& state, int nranks = 16, const std::string& id = kWorld,
             const std::string& error = "") {
    RankReport report = rank_report(rank, nranks, id);
    report.state = state;
    report.error = error;
    job.report(report, fmt::format("Rank {} is {}", rank, state));
  }
  // In the form that ncclras prints for people.
  void text_report(int late, std::uint64_t count, std::uint64_t peers) {
    open();
    communicator("RUNNING", "MISMATCH");
    crowd(15, peers);
    launched(late, count);
  }
  void completed(int rank, std::uint64_t count, Timestamp time, int nranks = 4) {
    RankReport report = rank_report(rank, nranks);
    report.tool = "inspector";
    report.state.clear();
    report.operation = "AllReduce";
    report.completed = count;
    job.report(report, fmt::format("rank {} completed {}", rank, count),
               fmt::format("inspector-{}.log", rank), EventTime::at(time));
  }

  Job job;
  bool names_all = false;
};

TEST_F(Reported, OneReportOfAHungJobNamesTheRankThatIsBehind) {
  text_report(7, 467, 468);
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  ASSERT_THAT(diagnosis.root_causes, SizeIs(1));
  const Finding& cause = diagnosis.root_causes.front();
  EXPECT_EQ(cause.cause, "collective.rank_behind");
  EXPECT_THAT(cause.title, AllOf(HasSubstr("Rank 7"), HasSubstr("process 1007 on 10.20.0.11"),
                                 HasSubstr("1 fewer than 15 of its 16 ranks"),
                                 HasSubstr("AllReduce"), HasSubstr(kWorld)));
  EXPECT_THAT(cause.subject.ranks, ElementsAre(7));
  EXPECT_THAT(cause.subject.communicators, ElementsAre(kWorld));
  EXPECT_THAT(diagnosis.ranks.behind, ElementsAre(7));
  EXPECT_EQ(diagnosis.ranks.expected, 16);
  EXPECT_LT(cause.confidence, 0.89) << "ranks that run differ by a few, too";
  ASSERT_THAT(cause.evidence, SizeIs(2));
  EXPECT_EQ(cause.evidence[0].line, 4U);
  EXPECT_EQ(cause.evidence[1].line, 3U);
}

TEST_F(Reported, ARankThatStoodStillBetweenTwoReportsIsStuck) {
  text_report(7, 467, 468);
  text_report(7, 467, 468);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.root_causes, SizeIs(1));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("stood still between two reports"));
  EXPECT_GT(diagnosis.root_causes.front().confidence, 0.85);
}

TEST_F(Reported, ARankThatMovedBetweenTwoReportsIsNotBehind) {
  text_report(7, 467, 468);
  text_report(7, 510, 511);
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

TEST_F(Reported, WhatAnEarlierReportSaidNoLongerHolds) {
  text_report(7, 467, 468);
  open();
  communicator("RUNNING", "OK", 16, "");
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

TEST_F(Reported, AReportThatNamesEveryRankTellsOfOperationsNeverLaunched) {
  open(true);
  communicator("RUNNING", "OK", 4);
  for (int rank = 0; rank < 4; ++rank) {
    state(rank, "running", 4);
    if (rank != 2) launched(rank, 12, "AllReduce", 4);
  }
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.root_causes, SizeIs(1));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("Rank 2 "));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("launched 0 AllReduce"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(2));
}

TEST_F(Reported, RanksThatAgreeAreNotAccused) {
  open(true);
  communicator("RUNNING", "OK", 4);
  for (int rank = 0; rank < 4; ++rank) {
    state(rank, "running", 4);
    launched(rank, 12, "AllReduce", 4);
  }
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  EXPECT_THAT(diagnosis.symptoms, IsEmpty());
}

TEST_F(Reported, OneRankAheadOfAllOthersIsNotMadeFifteenCulprits) {
  auto report = [&] {
    open();
    communicator("RUNNING", "MISMATCH");
    crowd(15, 467);
    launched(3, 468);
  };
  report();
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty()) << "one report may have come in between";
  report();
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.root_causes, SizeIs(1));
  EXPECT_EQ(diagnosis.root_causes.front().cause, "software.collective_skipped");
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(3));
}

TEST_F(Reported, RanksThatCalledAsManyCollectivesOfOtherKindsTookAnotherPath) {
  open(true);
  communicator("RUNNING", "OK", 4);
  for (int rank = 0; rank < 4; ++rank) {
    state(rank, "running", 4);
    launched(rank, rank == 1 ? 11 : 12, "AllReduce", 4);
    launched(rank, rank == 1 ? 6 : 5, "AllGather", 4);
  }
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.root_causes, SizeIs(1));
  EXPECT_EQ(diagnosis.root_causes.front().cause, "software.collective_mismatch");
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(1));
}

TEST_F(Reported, WhoWaitsInAnotherCommunicatorIsNoOrigin) {
  open(true);
  communicator("RUNNING", "MISMATCH", 8);
  communicator("RUNNING", "MISMATCH", 2, "0xb0b");
  // Rank 1 is last in the world because it waits for rank 5 in a communicator of these two.
  for (int rank = 0; rank < 8; ++rank) {
    state(rank, "running", 8);
    if (rank == 5) continue;
    launched(rank, rank == 1 ? 9 : 10, "AllReduce", 8);
  }
  launched(5, 9, "AllReduce", 8);
  for (int rank : {1, 5}) {
    RankReport report = rank_report(rank, 2, "0xb0b");
    report.rank = rank == 1 ? 0 : 1;
    job.report(report, "a rank of the two");
    report.operation = "AllReduce";
    report.launched = rank == 1 ? 40 : 39;
    job.report(report, "its count");
  }
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.root_causes, SizeIs(1));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(5));
}

TEST_F(Reported, RanksThatNobodyNamesAreNotInvented) {
  open();
  communicator("RUNNING", "MISMATCH");
  crowd(8, 468);
  crowd(8, 467);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.root_causes, SizeIs(1));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, IsEmpty());
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("8 ranks that are not named"));
  EXPECT_LE(diagnosis.root_causes.front().confidence, 0.58);
}

TEST_F(Reported, TheInitLinesOfARankGiveItsHostAndGpu) {
  job.join_all(16, kWorld);
  text_report(11, 467, 468);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.root_causes, SizeIs(1));
  const Subject& subject = diagnosis.root_causes.front().subject;
  EXPECT_THAT(subject.hosts, ElementsAre("node-1"));
  EXPECT_THAT(subject.ranks, ElementsAre(11));
  EXPECT_THAT(subject.gpus, ElementsAre("node-1/" + Job::gpu_of(11)));
}

TEST_F(Reported, AFaultOfTheGpuExplainsWhyItsRankIsBehind) {
  job.join_all(16, kWorld);
  text_report(11, 467, 468);
  job.xid("node-1", Job::gpu_of(11), 79);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.root_causes, SizeIs(1));
  EXPECT_EQ(diagnosis.root_causes.front().cause, "gpu.off_bus");
  ASSERT_THAT(diagnosis.symptoms, SizeIs(1));
  EXPECT_EQ(diagnosis.symptoms.front().cause, "collective.rank_behind");
}

TEST_F(Reported, WhatCallsTellIsNotToldTwice) {
  job.join_all(16, kWorld);
  job.call(ranks(0, 16), all_reduce(), 3, kWorld);
  job.call(all_but(11, 16), all_reduce(), 1, kWorld);
  text_report(11, 3, 4);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.root_causes, SizeIs(1));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("never entered"));
  EXPECT_THAT(diagnosis.symptoms, IsEmpty());
}

TEST_F(Reported, ADeadProcessIsSilent) {
  open();
  communicator("RUNNING", "INCOMPLETE");
  state(12, "unresponsive");
  RankReport dead = rank_report(12);
  dead.communicator_id.clear();
  dead.rank = -1;
  dead.state = "dead";
  job.report(dead, "Process 1012 on node 10.20.0.12 managing GPU 4");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.root_causes, SizeIs(1));
  EXPECT_EQ(diagnosis.root_causes.front().cause, "process.silent");
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("considered dead"));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(12));
}

TEST_F(Reported, TheRanksOfAHostThatIsGoneAreOneFinding) {
  open();
  communicator("RUNNING", "INCOMPLETE", 64);
  for (int rank = 8; rank < 16; ++rank) state(rank, "dead", 64);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.root_causes, SizeIs(1));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, SizeIs(8));
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("10.20.0.12"));
}

TEST_F(Reported, AMissingRankAndAMissingProcessAreOne) {
  open();
  communicator("RUNNING", "INCOMPLETE", 32);
  job.report(RankReport{.tool = "ncclras",
                        .communicator_id = kWorld,
                        .nranks = 32,
                        .rank = 31,
                        .state = "unresponsive"},
             "The missing rank: 31");
  job.report(
      RankReport{.tool = "ncclras", .host = "10.20.0.14", .pid = 5208, .state = "unresponsive"},
      "Process 5208 on node 10.20.0.14 managing GPU 7");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.root_causes, SizeIs(1));
  EXPECT_THAT(diagnosis.root_causes.front().title,
              HasSubstr("Rank 31 (process 5208 on 10.20.0.14)"));
}

TEST_F(Reported, ARankThatIsMissingWhileACommunicatorIsSetUpNeverJoined) {
  open();
  communicator("INIT", "INCOMPLETE");
  state(3, "missing");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.root_causes, SizeIs(1));
  EXPECT_EQ(diagnosis.root_causes.front().cause, "launch.rank_missing");
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(3));
}

TEST_F(Reported, ARankThatLeftACommunicatorIsNotMissed) {
  open();
  communicator("RUNNING", "MISMATCH");
  state(3, "missing");
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

TEST_F(Reported, AnErrorOfItsOwnCountsMoreThanThoseOfRemoteProcesses) {
  open();
  communicator("ABORT", "ERROR");
  for (int rank : {1, 2}) state(rank, "running", 16, kWorld, "Remote process error");
  state(9, "running", 16, kWorld, "System error");
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::failed);
  ASSERT_THAT(diagnosis.root_causes, SizeIs(1));
  EXPECT_EQ(diagnosis.root_causes.front().cause, "nccl.error");
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(9));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("System error"));
}

TEST_F(Reported, AProcessThatTheMonitorSawDieIsSilent) {
  text_report(7, 467, 467);
  for (int rank = 0; rank < 16; ++rank)
    job.report(RankReport{.tool = "ncclras_monitor",
                          .host = address_of(rank),
                          .pid = 1000 + rank,
                          .state = rank == 4 ? "dead" : "running"},
               "an event", "monitor.log");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.root_causes, SizeIs(1));
  EXPECT_EQ(diagnosis.root_causes.front().cause, "process.silent");
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("rocess 1004 on 10.20.0.11"));
}

TEST_F(Reported, WhereMostProcessesAreGoneTheJobHasEnded) {
  for (int rank = 0; rank < 16; ++rank)
    job.report(RankReport{.tool = "ncclras_monitor",
                          .host = address_of(rank),
                          .pid = 1000 + rank,
                          .state = rank == 4 ? "running" : "dead"},
               "an event", "monitor.log");
  EXPECT_THAT(job.diagnosis().root_causes, IsEmpty());
}

const Timestamp kStart = *parse_rfc3339("2026-03-05T02:40:00Z");

TEST_F(Reported, RecordsThatEndTogetherAreInformation) {
  for (int rank = 0; rank < 4; ++rank) completed(rank, rank == 2 ? 466 : 467, kStart);
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  ASSERT_THAT(diagnosis.observations, SizeIs(1));
  EXPECT_EQ(diagnosis.observations.front().cause, "collective.stalled");
  EXPECT_EQ(diagnosis.observations.front().severity, Severity::info);
}

TEST_F(Reported, RecordsThatEndEarlyAccuseNobodyByThemselves) {
  for (int rank = 0; rank < 4; ++rank)
    completed(rank, rank == 2 ? 400 : 467, rank == 2 ? kStart : kStart + std::chrono::minutes(2));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  ASSERT_THAT(diagnosis.observations, SizeIs(1));
  EXPECT_EQ(diagnosis.observations.front().cause, "process.silent");
  EXPECT_THAT(diagnosis.observations.front().subject.ranks, ElementsAre(2));
}

TEST_F(Reported, AProxyThatWaitsForItsGpuIsAnObservation) {
  job.report(ReportOpened{.tool = "proxy", .names_all = true}, "ACTIVE OPS", "rank-3.out");
  job.report(ProxyOperation{.operation = 421, .kind = "Send", .peer = 9, .waits_for = "gpu"},
             "[0-12|843| Send 9G/0]", "rank-3.out");
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  ASSERT_THAT(diagnosis.observations, SizeIs(1));
  EXPECT_THAT(diagnosis.observations.front().title,
              HasSubstr("rank-3.out waits for its own GPU in 1 places"));
}

TEST_F(Reported, AHangWithoutCallsAsksForAnotherReport) {
  text_report(7, 467, 468);
  EXPECT_THAT(
      job.diagnosis().missing_evidence,
      testing::Contains(testing::Field(&MissingEvidence::what, "a second report of ncclras")));
  text_report(7, 467, 468);
  EXPECT_THAT(
      job.diagnosis().missing_evidence,
      Not(testing::Contains(testing::Field(&MissingEvidence::command, HasSubstr("ncclras")))));
}

TEST_F(Reported, ReportsOfTwoSourcesAtOnceAreNotMixed) {
  job.report(ReportOpened{.tool = "ncclras"}, "Communicators...", "a.txt");
  job.report(ReportOpened{.tool = "ncclras"}, "Communicators...", "b.txt");
  auto line = [&](const std::string& source, int rank, int ranks, std::uint64_t count) {
    RankReport report = rank >= 0 ? rank_report(rank) : RankReport{};
    report.tool = "ncclras";
    report.communicator_id = kWorld;
    report.nranks = 16;
    report.ranks = ranks;
    report.operation = "AllReduce";
    report.launched = count;
    job.report(report, "a line", source);
  };
  line("a.txt", -1, 15, 468);
  line("b.txt", -1, 15, 500);
  line("a.txt", 7, 1, 467);
  line("b.txt", 8, 1, 499);
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(diagnosis.root_causes, SizeIs(1));
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(8));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("1 fewer than 15"));
}

TEST_F(Reported, AHostileReportTakesBoundedMemory) {
  open(true);
  for (int rank = 0; rank < 200'000; ++rank) {
    RankReport report = rank_report(rank, 1 << 20);
    job.state.apply(
        {"j", "ras.txt", "", -1},
        Batch{.speakers = {Speaker{}}, .events = {{.line = 9, .fact = report, .text = "a rank"}}},
        Timestamp{});
  }
  EXPECT_LE(job.state.reports().latest()->entries, std::size_t{1} << 17);
}

}  // namespace
}  // namespace faultline
