// Measured bandwidths, wrong results, profiles of ranks and samples of their GPUs: what is far from
// healthy is found, and nothing is accused where the data leave it open.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "job.h"
#include "rules/knowledge/catalog_files.h"
#include "seconds.h"

namespace faultline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Table {
  std::string collective = "all_reduce";
  std::string gpu = "NVIDIA H100 80GB HBM3";
  std::string ranks = "8";
  std::string nodes = "1";
  std::string hosts = "gpu-7";
  std::string largest = "8589934592";
  std::string average = "300";
};

PartReport table(double busbw, const Table& of = {}) {
  return {.tool = "nccl-tests",
          .kind = "bandwidth_test",
          .names = {{"collective", of.collective},
                    {"gpu", of.gpu},
                    {"ranks", of.ranks},
                    {"nodes", of.nodes},
                    {"hosts", of.hosts},
                    {"largest size", of.largest}},
          .values = {{"busbw", fmt::format("{}", busbw)},
                     {"rows", "5"},
                     {"average busbw", of.average},
                     {"ended", "yes"}}};
}

Diagnosis diagnosis_of(const PartReport& report) {
  Job job;
  job.part("", report);
  return job.diagnosis();
}

TEST(BandwidthTests, AHealthyTableAccusesNobody) {
  const Diagnosis diagnosis = diagnosis_of(table(479.9));
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
}

TEST(BandwidthTests, FarUnderWhatTheHardwareReachesIsLow) {
  const Diagnosis diagnosis = diagnosis_of(table(231));
  EXPECT_EQ(diagnosis.verdict, Verdict::slow);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("performance.bandwidth_low"));
  EXPECT_EQ(diagnosis.root_causes[0].title,
            "all_reduce on gpu-7 reached 231 GB/s of bus bandwidth with 8 x NVIDIA H100 80GB HBM3; "
            "480 is usual");
  EXPECT_THAT(diagnosis.root_causes[0].subject.hosts, ElementsAre("gpu-7"));
}

TEST(BandwidthTests, WhatHardwareReachesIsTakenByItsName) {
  // Healthy on eight A100, and about half of what eight H100 reach.
  EXPECT_THAT(causes(diagnosis_of(table(231, {.gpu = "NVIDIA A100-SXM4-80GB"})).root_causes),
              IsEmpty());
  EXPECT_THAT(causes(diagnosis_of(table(150, {.gpu = "A100-SXM4-40GB"})).root_causes),
              ElementsAre("performance.bandwidth_low"));
}

TEST(BandwidthTests, HardwareThatIsNotKnownIsNotAccused) {
  for (const Table& of :
       {Table{.gpu = "NVIDIA A100 80GB PCIe"}, Table{.gpu = "NVIDIA GH200 120GB"}, Table{.gpu = ""},
        Table{.ranks = "2"}, Table{.ranks = "16", .nodes = "2"}, Table{.ranks = "", .nodes = ""},
        Table{.collective = "alltoall"}, Table{.collective = ""}})
    EXPECT_THAT(causes(diagnosis_of(table(20, of)).root_causes), IsEmpty())
        << of.gpu << of.ranks << of.collective;
}

CheckStatus status_of(const Diagnosis& diagnosis, std::string_view name) {
  for (const Check& check : diagnosis.checklist)
    if (check.check == name) return check.status;
  ADD_FAILURE() << "no check is called " << name;
  return CheckStatus::unknown;
}

TEST(BandwidthTests, TheChecklistSaysWhatCannotBeJudged) {
  constexpr std::string_view kName = "expected bandwidth";
  EXPECT_EQ(status_of(diagnosis_of(table(479)), kName), CheckStatus::pass);
  EXPECT_EQ(status_of(diagnosis_of(table(200)), kName), CheckStatus::fail);
  EXPECT_EQ(status_of(diagnosis_of(table(20, {.gpu = "T4"})), kName), CheckStatus::unknown);
}

TEST(BandwidthTests, SmallMessagesAreSlowByNature) {
  EXPECT_THAT(causes(diagnosis_of(table(40, {.largest = "134217728"})).root_causes), IsEmpty());
  EXPECT_THAT(causes(diagnosis_of(table(479, {.average = "61.2"})).root_causes), IsEmpty());
}

TEST(BandwidthTests, ALimitThatTheTestWasGivenCounts) {
  EXPECT_THAT(causes(diagnosis_of(table(20, {.gpu = "T4", .average = "12.5 FAILED"})).root_causes),
              ElementsAre("performance.bandwidth_low"));
}

TEST(BandwidthTests, LessThanTheSameHostsReachedBeforeIsLow) {
  Job job;
  const Table of{.gpu = "NVIDIA L40S", .ranks = "16", .nodes = "2", .hosts = "gpu-7,gpu-8"};
  job.part("gpu-7", table(44, of), at(0));
  job.part("gpu-7", table(43, of), at(3600));
  job.part("gpu-7", table(22, of), at(7200));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("performance.bandwidth_low"));
  EXPECT_THAT(diagnosis.root_causes[0].title,
              HasSubstr("reached 22 GB/s, and 44 in an earlier run"));
  EXPECT_THAT(diagnosis.root_causes[0].subject.hosts, ElementsAre("gpu-7", "gpu-8"));
}

TEST(BandwidthTests, AFallThatIsOverIsNoneNorIsAnotherHostsRunAnEarlierOne) {
  Job recovered;
  const Table of{.gpu = "NVIDIA L40S"};
  recovered.part("gpu-7", table(22, of), at(0));
  recovered.part("gpu-7", table(44, of), at(3600));
  EXPECT_THAT(causes(recovered.diagnosis().root_causes), IsEmpty());

  Job others;
  others.part("gpu-7", table(44, of), at(0));
  others.part("gpu-8", table(22, {.gpu = of.gpu, .hosts = "gpu-8"}), at(3600));
  for (const Finding& finding : others.diagnosis().root_causes)
    EXPECT_THAT(finding.title, Not(HasSubstr("earlier run")));
}

// Runs of the same test, each with its hosts and the bandwidth that it reached.
Diagnosis diagnosis_beside(const std::vector<std::pair<std::string, double>>& runs) {
  Job job;
  for (const auto& [hosts, busbw] : runs) {
    const bool pair = hosts.find(',') != std::string::npos;
    job.part("", table(busbw, {.gpu = "NVIDIA L40S",
                               .ranks = pair ? "8" : "4",
                               .nodes = pair ? "2" : "1",
                               .hosts = hosts}));
  }
  return job.diagnosis();
}

TEST(BandwidthTests, AHostThatReachesFarLessThanOthersInTheSameTestIsLow) {
  const Diagnosis diagnosis = diagnosis_beside({{"gpu-7", 44}, {"gpu-8", 20}, {"gpu-9", 43}});
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("performance.bandwidth_low"));
  EXPECT_EQ(diagnosis.root_causes[0].title,
            "all_reduce on gpu-8 reached 20 GB/s of bus bandwidth, and other hosts 44");
  EXPECT_THAT(diagnosis.root_causes[0].subject.hosts, ElementsAre("gpu-8"));
}

TEST(BandwidthTests, BesideOneOtherHostAloneItIsHardlyMoreThanAGuess) {
  const Diagnosis diagnosis = diagnosis_beside({{"gpu-7", 44}, {"gpu-8", 20}});
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("performance.bandwidth_low"));
  EXPECT_LE(diagnosis.root_causes[0].confidence, 0.58);
}

TEST(BandwidthTests, TheHostThatAllSlowPairsShareIsLow) {
  const Diagnosis diagnosis = diagnosis_beside(
      {{"gpu-7,gpu-8", 20}, {"gpu-8,gpu-9", 21}, {"gpu-9,gpu-10", 44}, {"gpu-10,gpu-7", 43}});
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("performance.bandwidth_low"));
  EXPECT_THAT(diagnosis.root_causes[0].subject.hosts, ElementsAre("gpu-8"));
  EXPECT_THAT(diagnosis.root_causes[0].evidence, testing::SizeIs(2));
}

TEST(BandwidthTests, SlowRunsThatShareNoHostOfTheirOwnAccuseNobody) {
  // A bottleneck between two rows of racks; a slow pair whose hosts were fast in other pairs; a
  // single slow pair, in which either host may be the slow one.
  EXPECT_THAT(causes(diagnosis_beside({{"gpu-7,gpu-8", 44},
                                       {"gpu-8,gpu-9", 30},
                                       {"gpu-9,gpu-10", 44},
                                       {"gpu-10,gpu-7", 30}})
                         .root_causes),
              IsEmpty());
  EXPECT_THAT(
      causes(diagnosis_beside({{"gpu-7,gpu-8", 20}, {"gpu-8,gpu-9", 44}, {"gpu-7,gpu-9", 44}})
                 .root_causes),
      IsEmpty());
  EXPECT_THAT(causes(diagnosis_beside({{"gpu-7,gpu-8", 20}, {"gpu-9,gpu-10", 44}}).root_causes),
              IsEmpty());
}

TEST(BandwidthTests, OtherHardwareOrAnotherTestIsNoMeasure) {
  Job job;
  job.part("gpu-7", table(44, {.gpu = "NVIDIA L40S", .ranks = "4"}));
  job.part("gpu-8", table(20, {.gpu = "NVIDIA L4", .ranks = "4", .hosts = "gpu-8"}));
  job.part("gpu-9", table(20, {.gpu = "NVIDIA L40S", .ranks = "2", .hosts = "gpu-9"}));
  EXPECT_THAT(causes(job.diagnosis().root_causes), IsEmpty());
}

TEST(BandwidthTests, AHostOnWhichTheJobDoesNotRunIsABystander) {
  Job job;
  job.join_all(16);
  job.part("", table(100, {.hosts = "gpu-99"}));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_THAT(causes(diagnosis.root_causes), IsEmpty());
  EXPECT_THAT(causes(diagnosis.observations), ElementsAre("performance.bandwidth_low"));
}

TEST(BandwidthTests, OneThatPrintedNoRowIsNoProofOfHealthAndTheRestIsAskedFor) {
  Job job;
  job.part("", table(479.9));
  job.part("", {.tool = "nccl-tests",
                .kind = "test_without_rows",
                .names = {{"collective", "sendrecv"}, {"hosts", "gpu-7,gpu-8"}},
                .values = {{"rows", "0"}}});
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
  ASSERT_FALSE(diagnosis.missing_evidence.empty());
  EXPECT_EQ(diagnosis.missing_evidence[0].what,
            "output of nccl-tests, sendrecv on gpu-7,gpu-8 to its end");
}

PartReport wrong_results() {
  return {.tool = "nccl-tests",
          .kind = "results_check",
          .names = {{"collective", "all_reduce"}, {"nodes", "1"}, {"hosts", "gpu-7"}},
          .values = {{"wrong rows", "2"},
                     {"wrong values", "15"},
                     {"first wrong size", "268435456"},
                     {"out of bounds", "3 FAILED"}}};
}

TEST(WrongResults, MakeTheVerdictCorrupt) {
  const Diagnosis diagnosis = diagnosis_of(wrong_results());
  EXPECT_EQ(diagnosis.verdict, Verdict::corrupt);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("corruption.wrong_results"));
  EXPECT_EQ(diagnosis.root_causes[0].title,
            "all_reduce computed wrong results on gpu-7: 2 sizes, the first of 268435456 bytes");
  EXPECT_EQ(diagnosis.root_causes[0].severity, Severity::critical);
}

// --- Profiles ---------------------------------------------------------------------------------

struct Step {
  double own = 600'000;
  double idle = 50'000;
  double collective = 200'000;
};

PartReport trace(int rank, const std::vector<Step>& steps, double exposed_share = 0.1,
                 double sends_us = 0) {
  Step all{.own = 0, .idle = 0, .collective = 0};
  PartReport report{.tool = "torch.profiler", .kind = "trace"};
  if (rank >= 0) report.names.push_back({"rank", std::to_string(rank)});
  auto value = [&](std::string name, double number) {
    report.values.push_back({std::move(name), fmt::format("{:.1f}", number)});
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    value(fmt::format("step {} / span us", 10 + i), 1'000'000);
    value(fmt::format("step {} / own us", 10 + i), step.own);
    value(fmt::format("step {} / idle us", 10 + i), step.idle);
    value(fmt::format("step {} / collective us", 10 + i), step.collective);
    all.own += step.own;
    all.idle += step.idle;
    all.collective += step.collective;
  }
  const double span = 1'000'000 * static_cast<double>(steps.size());
  value("span us", span);
  value("own us", all.own);
  value("idle us", all.idle);
  value("collective us", all.collective);
  value("communication us", all.collective + sends_us);
  value("exposed communication us", exposed_share * span);
  value("kernels", 5000);
  return report;
}

Job job_of(const std::vector<PartReport>& traces) {
  Job job;
  for (std::size_t i = 0; i < traces.size(); ++i)
    job.part("", traces[i], {}, fmt::format("trace_{}.json", i));
  return job;
}

constexpr Step kUsual{};
constexpr Step kWaits{.own = 600'000, .idle = 50'000, .collective = 500'000};
constexpr Step kComputes{.own = 900'000, .idle = 50'000, .collective = 200'000};
constexpr Step kIdles{.own = 600'000, .idle = 350'000, .collective = 200'000};

TEST(Profiles, HealthyOnesAccuseNobody) {
  std::vector<PartReport> traces;
  for (int rank = 0; rank < 8; ++rank) traces.push_back(trace(rank, std::vector<Step>(5, kUsual)));
  const Diagnosis diagnosis = job_of(traces).diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::healthy);
  EXPECT_THAT(diagnosis.root_causes, IsEmpty());
}

TEST(Profiles, TheRankThatComputesLongWhileTheOthersWaitIsTheStraggler) {
  std::vector<PartReport> traces;
  for (int rank = 0; rank < 8; ++rank)
    traces.push_back(
        trace(rank, std::vector<Step>(5, rank == 3 ? kComputes : kWaits), rank == 3 ? 0.1 : 0.4));
  const Diagnosis diagnosis = job_of(traces).diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::slow);
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.straggler"));
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(3));
  EXPECT_EQ(diagnosis.root_causes[0].title,
            "Rank 3 comes late to collectives in 5 of 5 steps: its GPU computes longer, and its "
            "peers wait 30 % of a step");
}

TEST(Profiles, ARankWhoseGpuIsLeftIdleIsAStragglerToo) {
  const Diagnosis diagnosis =
      job_of({trace(0, std::vector<Step>(4, kWaits)), trace(1, std::vector<Step>(4, kIdles)),
              trace(2, std::vector<Step>(4, kWaits))})
          .diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.straggler"));
  EXPECT_THAT(diagnosis.root_causes[0].title, HasSubstr("is idle for longer"));
}

TEST(Profiles, RanksThatAreLateInTurnAreNoStragglers) {
  std::vector<PartReport> traces;
  for (int rank = 0; rank < 4; ++rank) {
    std::vector<Step> steps(4, kWaits);
    steps[static_cast<std::size_t>(rank)] = kComputes;
    traces.push_back(trace(rank, steps));
  }
  EXPECT_THAT(causes(job_of(traces).diagnosis().root_causes), IsEmpty());
}

TEST(Profiles, ARankThatCommunicatesLessForNoReasonThatIsSeenIsNotAccused) {
  // It may have another group or a smaller message: no work of its own fills the time.
  Step less = kWaits;
  less.collective = 100'000;
  EXPECT_THAT(
      causes(job_of({trace(0, std::vector<Step>(4, kWaits)), trace(1, std::vector<Step>(4, less)),
                     trace(2, std::vector<Step>(4, kWaits))})
                 .diagnosis()
                 .root_causes),
      IsEmpty());
}

TEST(Profiles, StagesOfAPipelineWaitByDesign) {
  const double sends = 3'000'000;
  EXPECT_THAT(causes(job_of({trace(0, std::vector<Step>(4, kWaits), 0.1, sends),
                             trace(1, std::vector<Step>(4, kComputes), 0.1, sends),
                             trace(2, std::vector<Step>(4, kWaits), 0.1, sends)})
                         .diagnosis()
                         .root_causes),
              IsEmpty());
}

TEST(Profiles, CommunicationThatAllRanksCannotHideIsTheBound) {
  std::vector<PartReport> traces;
  for (int rank = 0; rank < 4; ++rank)
    traces.push_back(trace(rank, std::vector<Step>(4, kUsual), 0.42));
  const Diagnosis diagnosis = job_of(traces).diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("performance.communication_bound"));
  EXPECT_THAT(diagnosis.root_causes[0].title,
              HasSubstr("Each of 4 profiled ranks spends at least 42 %"));
}

TEST(Profiles, WhereOtherRanksWereNotProfiledTheyAreAskedForAndItIsLessSure) {
  Job all;
  Job some;
  for (Job* job : {&all, &some}) job->join_all(8);
  for (int rank = 0; rank < 8; ++rank) {
    const PartReport report = trace(rank, std::vector<Step>(4, kUsual), 0.42);
    const std::string name = fmt::format("trace_{}.json", rank);
    all.part("", report, {}, name);
    if (rank != 3) some.part("", report, {}, name);
  }
  const Diagnosis whole = all.diagnosis();
  const Diagnosis part = some.diagnosis();
  ASSERT_THAT(causes(whole.root_causes), ElementsAre("performance.communication_bound"));
  ASSERT_THAT(causes(part.root_causes), ElementsAre("performance.communication_bound"));
  EXPECT_LT(part.root_causes[0].confidence, whole.root_causes[0].confidence);
  const auto asks = [](const Diagnosis& diagnosis) {
    return std::ranges::any_of(diagnosis.missing_evidence, [](const MissingEvidence& missing) {
      return missing.what == "profile of rank 3";
    });
  };
  EXPECT_TRUE(asks(part));
  EXPECT_FALSE(asks(whole));
}

TEST(Profiles, OneRankThatWaitsLittleShowsThatTheNetworkIsNotTheBound) {
  EXPECT_THAT(causes(job_of({trace(0, std::vector<Step>(4, kUsual), 0.42),
                             trace(1, std::vector<Step>(4, kUsual), 0.12),
                             trace(2, std::vector<Step>(4, kUsual), 0.42)})
                         .diagnosis()
                         .root_causes),
              IsEmpty());
}

TEST(Profiles, OfASingleRankItIsSaidThatOthersMayBeWaitedFor) {
  const Diagnosis diagnosis = job_of({trace(5, std::vector<Step>(4, kUsual), 0.42)}).diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("performance.communication_bound"));
  EXPECT_THAT(diagnosis.root_causes[0].title, HasSubstr("waiting for others included"));
  EXPECT_LE(diagnosis.root_causes[0].confidence, 0.58);
}

TEST(Profiles, AShortOneTellsNothing) {
  PartReport report = trace(0, {kUsual}, 0.6);
  for (NamedValue& value : report.values)
    if (value.name == "span us") value.value = "20000";
  EXPECT_THAT(causes(job_of({report}).diagnosis().root_causes), IsEmpty());
}

// --- Samples of scripts -----------------------------------------------------------------------

PartReport barrier(int rank, double ms) {
  return {.tool = "straggler-report",
          .kind = "rank",
          .names = {{"rank", std::to_string(rank)}},
          .values = {{"barrier ms", fmt::format("{:.2f}", ms)}}};
}

TEST(BarrierTimes, OneFarAboveTheOthersIsLate) {
  Job job;
  for (int rank = 0; rank < 8; ++rank)
    job.part("", barrier(rank, rank == 3 ? 812.4 : 198.1 + rank));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.straggler"));
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(3));
}

TEST(BarrierTimes, OneFarUnderTheOthersIsWaitedFor) {
  Job job;
  for (int rank = 0; rank < 8; ++rank) job.part("", barrier(rank, rank == 6 ? 20 : 800.0 + rank));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.straggler"));
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(6));
  EXPECT_THAT(diagnosis.root_causes[0].title, HasSubstr("comes last"));
}

TEST(BarrierTimes, TimesThatAreAllDifferentNameNobody) {
  Job job;
  for (int rank = 0; rank < 8; ++rank) job.part("", barrier(rank, 100.0 * (rank + 1)));
  EXPECT_THAT(causes(job.diagnosis().root_causes), IsEmpty());
}

TEST(KernelTimes, NameTheRankWhoseGpuIsSlow) {
  Job job;
  job.part("",
           {.tool = "straggler-report", .kind = "gpus", .names = {}, .values = {{"ranks", "5"}}});
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.straggler"));
  EXPECT_THAT(diagnosis.root_causes[0].subject.ranks, ElementsAre(5));
}

TEST(KernelTimes, OfHalfTheJobNameNobody) {
  Job job;
  job.part("", {.tool = "straggler-report",
                .kind = "gpus",
                .names = {},
                .values = {{"ranks", "4,5,6,7,8,9"}}});
  EXPECT_THAT(causes(job.diagnosis().root_causes), IsEmpty());
}

PartReport sample(int rank, const std::string& use, const std::string& memory = "71234") {
  return {.tool = "gpu-watchdog",
          .kind = "rank",
          .names = {{"rank", std::to_string(rank)}},
          .values = {{"gpu util", use}, {"memory used MiB", memory}}};
}

TEST(IdleGpus, OneThatIdlesWhileAllOthersSpinIsBehind) {
  Job job;
  for (int second = 0; second <= 300; second += 30)
    for (int rank = 0; rank < 4; ++rank)
      job.part("", sample(rank, rank == 2 && second > 60 ? "0" : "100"), at(second));
  const Diagnosis diagnosis = job.diagnosis();
  EXPECT_EQ(diagnosis.verdict, Verdict::hang);
  EXPECT_THAT(diagnosis.summary, HasSubstr("Rank 2's GPU has done nothing for 210 s"));
}

TEST(IdleGpus, ThatAllIdleOrOnlyForAMomentIsNoHang) {
  Job all;
  Job moment;
  for (int second = 0; second <= 300; second += 30)
    for (int rank = 0; rank < 4; ++rank) {
      all.part("", sample(rank, second > 60 ? "0" : "100"), at(second));
      moment.part("", sample(rank, rank == 2 && second > 240 ? "0" : "100"), at(second));
    }
  EXPECT_THAT(causes(all.diagnosis().symptoms), Not(Contains("collective.rank_behind")));
  EXPECT_THAT(causes(moment.diagnosis().symptoms), Not(Contains("collective.rank_behind")));
  EXPECT_THAT(causes(moment.diagnosis().root_causes), IsEmpty());
}

PartReport process(int pid, const std::string& state) {
  return {.tool = "ps",
          .kind = "process",
          .names = {{"pid", std::to_string(pid)}},
          .values = {{"STAT", state}, {"COMMAND", "[python3] <defunct>"}}};
}

TEST(DeadProcesses, ExplainARankThatIsBehind) {
  Job job;
  job.join_all(8);
  job.call(ranks(0, 8), all_reduce(), 20);
  job.call(all_but(3, 8), all_reduce());
  job.part("node-0", process(1003, "Zl"));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("software.rank_crashed"));
  EXPECT_EQ(diagnosis.root_causes[0].title, "The process of rank 3 on node-0 (pid 1003) has ended");
}

TEST(DeadProcesses, AccuseNobodyWhereTheyExplainNothingOrAreSomebodyElses) {
  for (const int pid : {1003, 4711}) {
    Job job;
    job.join_all(8);
    job.call(ranks(0, 8), all_reduce(), 20);
    job.part("node-0", process(pid, "Zl"));
    EXPECT_THAT(causes(job.diagnosis().root_causes), IsEmpty());
  }
  Job alive;
  alive.join_all(8);
  alive.call(ranks(0, 8), all_reduce(), 20);
  alive.call(all_but(3, 8), all_reduce());
  alive.part("node-0", process(1003, "Sl"));
  EXPECT_THAT(causes(alive.diagnosis().root_causes), Not(Contains("software.rank_crashed")));
}

// --- performance.yaml -------------------------------------------------------------------------

std::string complaint_about(const std::string& references, const std::string& falls_short = "0.8") {
  const std::string rest =
      "profile: {least_span_ms: 1, least_kernels: 1, exposed_communication: 0.3, pipeline: 0.2}\n"
      "straggler: {gap: 0.1, accounted: 0.5, consistent: 0.7, steps: 3, gap_without_steps: 0.2,\n"
      "            barrier_above: 2, barrier_below: 0.5, alike: 0.4, work_above: 1.5,\n"
      "            wait_above: 2, throughput_below: 0.8, clock_below: 0.85}\n"
      "idle_gpu: {idle: 1, busy: 90, seconds: 120, least_memory_mib: 1024}\n";
  try {
    read_performance("performance.yaml", "bandwidth:\n  falls_short: " + falls_short +
                                             "\n  far_below: 0.4\n  from_size: 1\n"
                                             "  many_ranks: {from: 9, low: 5}\n"
                                             "  fast_hosts: {gpus: [y], low: 10}\n"
                                             "  references:\n" +
                                             references + rest);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(PerformanceCatalog, IsRefusedWithTheLineAndTheMend) {
  const std::string good =
      "    - {id: x, gpus: [y], collective: all_reduce, nodes: 1, ranks: 8, from_size: 1, "
      "expected: 10, low: 5}\n";
  EXPECT_EQ(complaint_about(good), "");
  EXPECT_EQ(complaint_about(good, "much"),
            "performance.yaml:2: falls_short \"much\" is not a number above 0; write one");
  EXPECT_EQ(complaint_about("    - {id: x, gpus: [y], collective: all_reduce, nodes: 1, ranks: 8, "
                            "from_size: 1, expected: 10, low: 50}\n"),
            "performance.yaml:8: low is above expected; swap them");
}

}  // namespace
}  // namespace faultline
