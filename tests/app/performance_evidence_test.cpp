// From the output of tools to the diagnosis: tables, traces and samples as people post them, each
// fault with its healthy twin.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ingest/reader.h"
#include "rules/answer/diagnosis.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Posted {
 public:
  void post(const std::string& name, std::string_view text) {
    Reader reader(Cursor{}, *parse_rfc3339("2026-03-10T12:00:00Z"));
    reader.feed(text);
    reader.close();
    job_.apply({"j", name, "", -1}, reader.take(), Timestamp{});
  }

  Diagnosis diagnosis() const {
    static const Catalog catalog = load_catalog();
    return diagnose(job_, catalog, Moment{});
  }

 private:
  JobState job_{"j"};
};

std::vector<std::string> causes(const Diagnosis& diagnosis) {
  std::vector<std::string> all;
  for (const Finding& finding : diagnosis.root_causes) all.emplace_back(name_of(finding.cause));
  return all;
}

std::string table(double busbw, int wrong = 0) {
  std::string text =
      "# Collective test starting: all_reduce_perf\n"
      "# nThread 1 nGpus 8 minBytes 8 maxBytes 8589934592 step: 2(factor) warmup iters: 1 iters: "
      "20 "
      "agg iters: 1 validation: 1 graph: 0\n#\n# Using devices\n";
  for (int rank = 0; rank < 8; ++rank)
    text += fmt::format(
        "#  Rank  {} Group  0 Pid  21734 on      gpu-7 device  {} [0000:{:02x}:00] NVIDIA H100 "
        "80GB "
        "HBM3\n",
        rank, rank, 16 + rank);
  text +=
      "#\n#       size         count      type   redop    root     time   algbw   busbw #wrong     "
      "time   algbw   busbw #wrong\n"
      "           8             2     float     sum      -1    15.81    0.00    0.00      0    "
      "15.42  "
      "  0.00    0.00      0\n";
  text += fmt::format(
      "  8589934592    2147483648     float     sum      -1    31319  {:.2f}  {:.2f}      {}    "
      "31311 "
      " {:.2f}  {:.2f}      0\n",
      busbw / 1.75, busbw, wrong, busbw / 1.75, busbw);
  return text + fmt::format("# Out of bounds values : {} {}\n# Avg bus bandwidth    : {:.3f} \n#\n",
                            wrong > 0 ? 1 : 0, wrong > 0 ? "FAILED" : "OK", busbw / 2);
}

TEST(PerformanceEvidence, ATableIsHealthyLowOrWrong) {
  Posted healthy;
  healthy.post("nccl-tests.txt", table(479.1));
  EXPECT_EQ(healthy.diagnosis().verdict, Verdict::healthy);

  Posted low;
  low.post("nccl-tests.txt", table(210));
  EXPECT_EQ(low.diagnosis().verdict, Verdict::slow);
  EXPECT_THAT(causes(low.diagnosis()), ElementsAre("performance.bandwidth_low"));

  Posted wrong;
  wrong.post("nccl-tests.txt", table(479.1, 12));
  EXPECT_EQ(wrong.diagnosis().verdict, Verdict::corrupt);
  EXPECT_THAT(causes(wrong.diagnosis()), ElementsAre("corruption.wrong_results"));
  ASSERT_THAT(wrong.diagnosis().root_causes[0].evidence, testing::SizeIs(1));
  EXPECT_EQ(wrong.diagnosis().root_causes[0].evidence[0].line, 16u);
}

// A table as scripts print it: three columns below a header of their own.
std::string script_table(double largest) {
  return fmt::format(
      "# Message Size(B)  Algo BW(GB/s)  Bus BW(GB/s)\n"
      " 4194304    31.9   59.8\n 67108864   91.2   171.0\n 2147483648 {:.1f}   {:.1f}\n",
      largest / 1.875, largest);
}

TEST(PerformanceEvidence, ATableOfAScriptIsSaidAndItsCliffIsFound) {
  Posted level;
  level.post("bench.txt", script_table(183.4));
  EXPECT_EQ(level.diagnosis().verdict, Verdict::unknown);
  EXPECT_THAT(level.diagnosis().root_causes, IsEmpty());
  EXPECT_THAT(level.diagnosis().summary,
              HasSubstr("all_reduce 183.4 GB/s of bus bandwidth with messages of 2 GiB"));

  Posted cliff;
  cliff.post("bench.txt", script_table(24.8));
  EXPECT_THAT(causes(cliff.diagnosis()), ElementsAre("performance.bandwidth_low"));
  EXPECT_THAT(cliff.diagnosis().summary, HasSubstr("fell to 24.8 GB/s"));
}

TEST(PerformanceEvidence, ARowThatReducesNothingIsReadWhereItsColumnIsEmpty) {
  Posted job;
  job.post("alltoall.txt",
           "# nThread 1 nGpus 2 minBytes 1048576 maxBytes 2097152 step: 2(factor) validation: 0\n"
           "# Using devices\n"
           "#   Rank  0 Pid  4411 on node-a device  0 [0x07] NVIDIA A100\n"
           "#   Rank  1 Pid  4411 on node-a device  1 [0x0f] NVIDIA A100\n"
           "#       size         count    type   redop     time   algbw   busbw  error     time   "
           "algbw   busbw  error\n"
           "     1048576        131072   float            71.42   14.68   12.85    N/A    71.03   "
           "14.76   12.92    N/A\n"
           "     2097152        262144   float            9216    22.76   19.91    N/A    92.7   "
           "22.62   19.79    N/A\n"
           "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 16.37\n");
  EXPECT_EQ(job.diagnosis().verdict, Verdict::unknown);
  EXPECT_THAT(job.diagnosis().summary, HasSubstr("19.91 GB/s of bus bandwidth with messages of 2"));
  EXPECT_THAT(job.diagnosis().summary, Not(HasSubstr("missing")));
}

TEST(PerformanceEvidence, ANumberByItselfIsSaidAndIsNoHealth) {
  struct Case {
    std::string_view why;
    std::string_view text;
    std::string_view said;
  };
  for (const Case& it : {
           Case{"a lone summary", "# Avg bus bandwidth    : 91.25\n", "91.25 GB/s on average"},
           Case{"a sum of streams", "[SUM]   0.00-10.00  sec   104 GBytes  89.6 Gbits/sec\n",
                "iperf3 89.6 Gbits/sec"},
           Case{"perftest without its banner",
                " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
                " 65536      5000             97.10              96.92\t\t   0.184860\n",
                "RDMA 96.92 Gb/sec"},
           Case{"pings that were answered",
                "12 packets transmitted, 12 received, 0% packet loss, time 11211ms\n",
                "12 of 12 pings were answered"},
       }) {
    Posted job;
    job.post("note.txt", it.text);
    EXPECT_EQ(job.diagnosis().verdict, Verdict::unknown) << it.why;
    EXPECT_THAT(job.diagnosis().root_causes, IsEmpty()) << it.why;
    EXPECT_THAT(job.diagnosis().summary, HasSubstr(std::string(it.said))) << it.why;
  }
}

std::string run_on(std::string_view host, double busbw, int wrong = 0) {
  std::string text = table(busbw, wrong);
  for (std::size_t at = 0; (at = text.find("gpu-7", at)) != text.npos;) text.replace(at, 5, host);
  return text;
}

struct CutRun {
  std::string before;
  std::string rest;
};

CutRun cut_before(std::string_view what, const std::string& text) {
  const std::size_t at = text.find(what);
  return {text.substr(0, at), text.substr(at)};
}

TEST(PerformanceEvidence, ATableWithoutItsLastLineIsNotHealthyAndItsEndIsAskedFor) {
  Posted job;
  job.post("nccl-tests.txt", cut_before("# Avg bus", table(479.1)).before);
  EXPECT_EQ(job.diagnosis().verdict, Verdict::unknown);
  EXPECT_THAT(job.diagnosis().missing_evidence,
              testing::Contains(testing::Field(&MissingEvidence::what,
                                               HasSubstr("all_reduce on gpu-7 to its end"))));
}

TEST(PerformanceEvidence, RowsOfRunsThatMayRunAtOnceAreOfNoHost) {
  const CutRun first = cut_before("  8589934592 ", run_on("gpu-3", 479.1, 12));
  const CutRun second = cut_before("           8 ", run_on("gpu-4", 479.1));
  Posted together;
  together.post("both.txt", first.before + second.before + first.rest + second.rest);
  const Diagnosis mixed = together.diagnosis();
  ASSERT_THAT(causes(mixed), ElementsAre("corruption.wrong_results"));
  EXPECT_THAT(mixed.root_causes.front().subject.hosts, IsEmpty());

  // A run that ended before does not count as running at the same time. Neither does an earlier run
  // of the same host, nor one that was broken off, because then the sizes begin anew.
  Posted one_by_one;
  one_by_one.post("both.txt", run_on("gpu-4", 479.1) + run_on("gpu-3", 479.1, 12));
  EXPECT_THAT(one_by_one.diagnosis().root_causes.front().subject.hosts, ElementsAre("gpu-3"));
  Posted again;
  again.post("both.txt", first.before + run_on("gpu-3", 479.1, 12));
  EXPECT_THAT(again.diagnosis().root_causes.front().subject.hosts, ElementsAre("gpu-3"));
  Posted broken_off;
  broken_off.post("both.txt", cut_before("  8589934592 ", run_on("gpu-4", 479.1)).before +
                                  run_on("gpu-3", 479.1, 12));
  EXPECT_THAT(broken_off.diagnosis().root_causes.front().subject.hosts, ElementsAre("gpu-3"));
}

// One of NCCL's lines breaks into the count of a row.
TEST(PerformanceEvidence, ACountThatATornRowLostIsNotCheckedUnlessTheSumTells) {
  const std::string info = "gpu-7:21734:21901 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P\n";
  const std::string whole = table(479.1);
  const std::size_t row = whole.find("           8 ");
  const std::string torn =
      whole.substr(0, row) + "  8589934592    2147483648     float     sum      -1" + info +
      "   31319  273.77  479.10      0" + info + "   31311  273.77  479.10      0\n";
  const auto check = [](const std::string& text) {
    Posted job;
    job.post("nccl-tests.txt", text);
    for (const Check& check : job.diagnosis().checklist)
      if (check.check == "results of nccl-tests") return check.status;
    return CheckStatus::fail;
  };
  EXPECT_EQ(check(torn), CheckStatus::unknown);
  EXPECT_EQ(check(torn + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 479.1\n"),
            CheckStatus::pass);
  EXPECT_EQ(check(whole), CheckStatus::pass);
}

TEST(PerformanceEvidence, ALaterTableIsHeldAgainstAnEarlierOneOfTheSameFile) {
  Posted job;
  job.post("nccl-tests.txt", table(479.1) + table(360));
  EXPECT_THAT(causes(job.diagnosis()), ElementsAre("performance.bandwidth_low"));
  EXPECT_THAT(job.diagnosis().summary, HasSubstr("reached 360 GB/s, and 479 in an earlier run"));
}

// Five steps of 100 ms. A rank that computes less waits for the others in its collective.
std::string trace(int rank, double compute_ms, double exposed_ms, double idle_ms = 5) {
  std::string text = fmt::format(
      "{{\"schemaVersion\": 1, \"distributedInfo\": {{\"rank\": {}, \"world_size\": 4}}, "
      "\"traceEvents\": [\n",
      rank);
  auto add = [&](std::string_view category, std::string_view name, int stream, double begin,
                 double duration) {
    text += fmt::format(
        "{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": 0, \"tid\": {}, \"ts\": "
        "{:.3f}, \"dur\": {:.3f}}},\n",
        category, name, stream, begin * 1000, duration * 1000);
  };
  for (int step = 0; step < 5; ++step) {
    const double begin = 1000 + step * 100;
    const double piece = compute_ms / 10;
    add("gpu_user_annotation", fmt::format("ProfilerStep#{}", step + 7), 7, begin, 100);
    for (int i = 0; i < 10; ++i) add("kernel", "gemm", 7, begin + idle_ms + i * piece, piece);
    add("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(args)", 22,
        begin + idle_ms + compute_ms, exposed_ms);
  }
  return text + "{\"ph\": \"M\", \"name\": \"end\"}]}\n";
}

TEST(PerformanceEvidence, TracesOfAllRanksNameTheOneThatIsWaitedFor) {
  Posted healthy;
  Posted late;
  Posted starved;
  Posted bound;
  for (int rank = 0; rank < 4; ++rank) {
    const std::string name = fmt::format("trace_{}.json", rank);
    healthy.post(name, trace(rank, 85, 10));
    late.post(name, rank == 2 ? trace(rank, 85, 10) : trace(rank, 55, 40));
    starved.post(name, rank == 2 ? trace(rank, 50, 10, 40) : trace(rank, 50, 45));
    bound.post(name, trace(rank, 50, 45));
  }
  EXPECT_EQ(healthy.diagnosis().verdict, Verdict::healthy);
  EXPECT_THAT(causes(late.diagnosis()), ElementsAre("software.straggler"));
  EXPECT_THAT(late.diagnosis().root_causes[0].title, HasSubstr("Rank 2"));
  EXPECT_THAT(late.diagnosis().root_causes[0].title, HasSubstr("computes longer"));
  EXPECT_THAT(causes(starved.diagnosis()), ElementsAre("software.straggler"));
  EXPECT_THAT(starved.diagnosis().root_causes[0].title, HasSubstr("is idle for longer"));
  EXPECT_THAT(causes(bound.diagnosis()), ElementsAre("performance.communication_bound"));
}

TEST(PerformanceEvidence, TheLinesOfScriptsNameTheRankThatDiffers) {
  Posted job;
  job.post("check.log",
           " rank 0: avg barrier time 198.10ms (1.00x median)\n"
           " rank 1: avg barrier time 199.10ms (1.00x median)\n"
           " rank 2: avg barrier time 197.10ms (0.99x median)\n"
           " rank 3: avg barrier time 812.40ms (4.10x median) [SLOW]\n"
           " WARNING: Straggler ranks detected: [3]\n");
  EXPECT_THAT(causes(job.diagnosis()), ElementsAre("software.straggler"));
  EXPECT_THAT(job.diagnosis().root_causes[0].subject.ranks, ElementsAre(3));

  Posted watched;
  std::string busy;
  std::string idle;
  for (int minute = 0; minute < 6; ++minute) {
    busy += fmt::format("2026-03-05T02:4{}:11.123456 rank=0 gpu_util=100 %, 71234\n", minute);
    idle += fmt::format("2026-03-05T02:4{}:11.523456 rank=1 gpu_util={} %, 71234\n", minute,
                        minute < 2 ? 97 : 0);
  }
  watched.post("watchdog_0.log", busy);
  watched.post("watchdog_1.log", idle);
  watched.post("watchdog_2.log", "2026-03-05T02:45:11.1 rank=2 gpu_util=100 %, 70234\n");
  EXPECT_EQ(watched.diagnosis().verdict, Verdict::hang);
  EXPECT_THAT(watched.diagnosis().summary, HasSubstr("Rank 1's GPU"));
}

// For each rank how long it works and waits in a step, in milliseconds.
std::string own_times(const std::vector<std::pair<double, double>>& ranks, int steps = 12) {
  std::string text;
  for (int step = 0; step < steps; ++step)
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      text += fmt::format(
          "2026-03-05 02:47:{:02},10{} INFO trainer [rank {}/{}] step {} fwd_bwd {:.1f} ms "
          "allreduce {:.1f} ms\n",
          step, rank, rank, ranks.size(), step, ranks[rank].first, ranks[rank].second);
  return text;
}

// The same as Megatron-LM prints it with --timing-log-option all.
std::string rank_timers(const std::vector<std::pair<double, double>>& ranks, int blocks = 2) {
  const auto timer = [&](std::string_view name, auto&& value) {
    std::string text = fmt::format("  {}:\n", name);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      text += fmt::format("     rank {:2}: {:.2f}\n", rank, value(ranks[rank]));
    return text;
  };
  std::string text;
  for (int block = 1; block <= blocks; ++block)
    text += fmt::format(
                " [2026-03-05 02:47:{0:02}] iteration {0:8}0/     500 | consumed samples: {0}60 | "
                "elapsed time per iteration (ms): 931.2 | lm loss: 7.1E+00 |\n"
                "times across ranks (ms):\n",
                block) +
            timer("forward-backward", [](const auto& it) { return it.first + it.second; }) +
            timer("forward-compute", [](const auto& it) { return it.first / 4; }) +
            timer("backward-compute", [](const auto& it) { return it.first / 4 * 3; }) +
            timer("all-grads-sync", [](const auto& it) { return it.second; });
  return text;
}

TEST(PerformanceEvidence, WhatRanksMeasureOfTheirStepsNamesTheOneThatTheOthersWaitFor) {
  const std::vector<std::pair<double, double>> ranks = {
      {200, 720}, {205, 715}, {201, 721}, {900, 25}};
  for (const std::string& text : {own_times(ranks), rank_timers(ranks)}) {
    Posted late;
    late.post("train.log", text);
    ASSERT_THAT(causes(late.diagnosis()), ElementsAre("software.straggler")) << text;
    EXPECT_THAT(late.diagnosis().root_causes[0].subject.ranks, ElementsAre(3));
    EXPECT_EQ(late.diagnosis().verdict, Verdict::slow);
  }

  // Communication itself takes most of a step.
  Posted slow_network;
  slow_network.post("train.log", own_times({{30, 1740}, {35, 1738}, {32, 1741}, {480, 1340}}));
  EXPECT_THAT(causes(slow_network.diagnosis()), ElementsAre("software.straggler"));

  // Each rank writes a log of its own.
  Posted apart;
  for (int rank = 0; rank < 3; ++rank)
    apart.post(fmt::format("rank{}.log", rank),
               own_times({rank == 1 ? std::pair(900.0, 25.0) : std::pair(200.0, 720.0)}));
  EXPECT_THAT(causes(apart.diagnosis()), IsEmpty()) << "each of them says that it is rank 0 of 1";
}

TEST(PerformanceEvidence, WhoHasMoreToDoOrWaitsLittleIsNoStraggler) {
  const std::vector<std::vector<std::pair<double, double>>> jobs = {
      {{200, 50}, {205, 45}, {201, 49}, {198, 52}},     // healthy
      {{200, 100}, {205, 95}, {201, 101}, {260, 40}},   // a stage with more work
      {{200, 720}, {205, 715}, {900, 25}, {901, 24}},   // two slow ranks
      {{200, 720}, {205, 715}, {201, 721}, {202, 25}},  // rank 3 waits little, but works no longer
      {{200, 30}, {205, 31}, {201, 32}, {900, 14}},     // rank 3 works long; no rank waits
      {{5, 130}, {5, 131}, {5, 129}, {10, 100}},        // too small a part of a step
  };
  for (const auto& ranks : jobs)
    for (const std::string& text : {own_times(ranks), rank_timers(ranks)}) {
      Posted job;
      job.post("train.log", text);
      EXPECT_THAT(causes(job.diagnosis()), IsEmpty()) << text;
    }
  Posted few;
  few.post("train.log", own_times({{200, 720}, {205, 715}, {201, 721}, {900, 25}}, 3));
  EXPECT_THAT(causes(few.diagnosis()), IsEmpty());
}

TEST(PerformanceEvidence, OneBlockOfTimersIsLessThanTwo) {
  const std::vector<std::pair<double, double>> ranks = {
      {200, 720}, {205, 715}, {201, 721}, {900, 25}};
  const auto sure_of = [&](int blocks) {
    Posted job;
    job.post("train.log", rank_timers(ranks, blocks));
    const Diagnosis diagnosis = job.diagnosis();
    return diagnosis.root_causes.empty() ? 0 : diagnosis.root_causes.front().confidence;
  };
  EXPECT_GT(sure_of(1), 0);
  EXPECT_LT(sure_of(1), sure_of(3));
}

// One report. The time of the slowest rank is computed from its throughput.
std::string extremes(double least, double clock, int clock_rank, int rank = 30) {
  return fmt::format(
      " 0: INFO:megatron.core.utils:[2026-03-05 02:47:11] | MnRtt/Rnk: 1446.49ms/13 | MxRtt/Rnk: "
      "{:.2f}ms/{} | MnPwr/Rnk: 617923.00W/0 | MxPwr/Rnk: 669787.00W/20 | MnTmp/Rnk: 50.00C/0 | "
      "MxTmp/Rnk: 61.00C/19 | MnUtl/Rnk: 45.00%/20 | MxUtl/Rnk: 100.00%/3 | MnClk/Rnk: "
      "{:.2f}MHz/{} | MxClk/Rnk: 1965.00MHz/0 | MnDRtt/Rnk: 1.22ms/15 | MxDRtt/Rnk: 130.33ms/23 | "
      "MnEtpt/Rnk: {:.2f}TF/{} | MxEtpt/Rnk: 608.83TF/13\n",
      1446.49 * 608.83 / least, rank, clock, clock_rank, least, rank);
}

TEST(PerformanceEvidence, MegatronsOwnMeasurementsNameTheRankThatReachesFarLess) {
  Posted slow;
  slow.post("train.log", extremes(402.5, 1185, 30) + extremes(404.5, 1185, 30));
  EXPECT_THAT(causes(slow.diagnosis()), ElementsAre("software.straggler"));
  EXPECT_THAT(slow.diagnosis().root_causes[0].subject.ranks, ElementsAre(30));
  EXPECT_THAT(slow.diagnosis().root_causes[0].title,
              HasSubstr("Rank 30 reaches 404 TFLOP/s, the best rank 609"));
  EXPECT_THAT(slow.diagnosis().root_causes[0].title, HasSubstr("its GPU runs at 1185 MHz"));

  Posted other_clock;
  other_clock.post("train.log", extremes(402.5, 1185, 7));
  EXPECT_THAT(other_clock.diagnosis().root_causes[0].title, testing::Not(HasSubstr("MHz")));

  // A single report may show just one moment.
  Posted once;
  once.post("train.log", extremes(402.5, 1185, 30));
  Posted changes;
  changes.post("train.log", extremes(560.8, 1920, 14, 2) + extremes(402.5, 1185, 30));
  for (const Posted* each : {&once, &changes})
    EXPECT_LT(each->diagnosis().root_causes[0].confidence, 0.4);
  EXPECT_GT(slow.diagnosis().root_causes[0].confidence, 0.6);

  Posted healthy;
  healthy.post("train.log", extremes(560.82, 1920, 14));
  EXPECT_THAT(causes(healthy.diagnosis()), IsEmpty());

  // The slowest rank is another one, or it is as fast as the others.
  for (const char* longest : {"/30 | MnPwr", "2187.99ms"}) {
    std::string text = extremes(402.5, 1185, 30);
    ASSERT_NE(text.find(longest), std::string::npos) << text;
    text.replace(text.find(longest), std::string_view(longest).size(),
                 longest[0] == '/' ? "/7 | MnPwr" : "1450.00ms");
    Posted unfit;
    unfit.post("train.log", text);
    EXPECT_THAT(causes(unfit.diagnosis()), IsEmpty()) << text;
  }
  const std::string whole = extremes(402.5, 1185, 30);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Posted torn;
    torn.post("train.log", whole.substr(0, size));
    for (const Finding& cause : torn.diagnosis().root_causes)
      EXPECT_THAT(cause.subject.ranks, ElementsAre(30)) << whole.substr(0, size);
  }
}

TEST(PerformanceEvidence, SumsAndListsAloneAccuseNobody) {
  Posted job;
  job.post(
      "nsys.csv",
      "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
      "91.0,9238123456,1200,7698436.2,1842112.0,11296,812400112,41234567.1,\"ncclDevKernel_A\"\n");
  job.post(
      "ps.txt",
      "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n"
      "train      21736  0.0  0.0      0     0 ?        Zl   02:40   2:44 [python3] <defunct>\n");
  EXPECT_THAT(causes(job.diagnosis()), IsEmpty());
}

}  // namespace
}  // namespace faultline
