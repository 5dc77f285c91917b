#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "unwrapping.h"

namespace faultline {
namespace {

using testing::ElementsAre;

const std::vector<std::string> kWall = {
    "",
    "Message from syslogd@gpu-node-7 at Mar  5 02:47:11 ...",
    " kernel:[  592.970198] watchdog: BUG: soft lockup - CPU#4 stuck for 23s! [python3:4242]",
    "",
    " kernel:[  772.066388] x",
};

TEST(Heading, OfASyslogDaemonTellsHostAndTimeOfTheIndentedLinesBelow) {
  const std::vector<Told> told = unwrap_all(kWall);
  ASSERT_EQ(told.size(), 4U) << "the heading says nothing else";
  EXPECT_EQ(told[1],
            (Told{.text = "watchdog: BUG: soft lockup - CPU#4 stuck for 23s! [python3:4242]",
                  .host = "gpu-node-7",
                  .wall = "~2026-03-05T02:47:11Z+1000000",
                  .uptime_us = 592970198}));
  EXPECT_EQ(told[3], (Told{.text = "x", .uptime_us = 772066388})) << "behind an empty line";
}

TEST(Heading, OfAHostThatIsCalledLocalhostTellsTheTimeAlone) {
  const std::vector<Told> told =
      unwrap_all({"Message from syslogd@localhost at Mar  5 02:47:11 ...",
                  "  kernel:watchdog: BUG: soft lockup - CPU#8 stuck"});
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].host, "");
  EXPECT_EQ(told[0].wall, "~2026-03-05T02:47:11Z+1000000");
}

TEST(Heading, ALineThatIsNotIndentedEndsAWall) {
  const std::vector<Told> told =
      unwrap_all({kWall[1], "[root@login ~]# dmesg", "  [    1.000000] x"});
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[1].host, "");
}

TEST(Heading, OtherLinesThatBeginSoAreTheirOwn) {
  for (const std::string line :
       {"Message from syslogd@gpu-node-7", "Message from syslogd@gpu-node-7 at noon",
        "Message from syslogd@gpu-node-7 at Mar  5 02:47:11 ... and more", "Message from root"}) {
    SCOPED_TRACE(line);
    const std::vector<Told> told = unwrap_all({line, " [    1.000000] x"});
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[1].host, "");
  }
}

TEST(Heading, OfAnErrorStackOfMpiTellsWhoseTheRowsAre) {
  const std::vector<Told> told = unwrap_all(
      {"MPICH ERROR [Rank 519] [job id 94.0] [Thu Mar  5 02:47:11 2026] [c1207] - Abort(53) (rank "
       "519 in comm 0): Fatal error in PMPI_Iprobe: Other MPI error, error stack:",
       "PMPI_Iprobe(126)...............: MPI_Iprobe(src=MPI_ANY_SOURCE) failed",
       "MPIDI_iprobe_safe(118).........: ", "MPIDI_OFI_handle_cq_error(1075): OFI poll failed",
       "the program's own line", "MPIDI_iprobe_safe(118).........: "});
  ASSERT_EQ(told.size(), 6U);
  EXPECT_EQ(told[0].text, "Fatal error in PMPI_Iprobe: Other MPI error, error stack:");
  for (std::size_t row = 1; row <= 3; ++row) {
    EXPECT_EQ(told[row].rank, 519) << row;
    EXPECT_EQ(told[row].host, "c1207") << row;
  }
  EXPECT_EQ(told[4], (Told{.text = "the program's own line"}));
  EXPECT_EQ(told[5].rank, -1) << "the stack is over";
}

TEST(Heading, ARankOfAPartOfTheJobIsNoRankOfIt) {
  const auto ranks = [](const std::string& line) {
    std::vector<int> all;
    for (const Told& told : unwrap_all({line, "MPIR_Init_thread(138)........:"}))
      all.push_back(told.rank);
    return all;
  };
  const std::string error = "Fatal error in PMPI_Init: Other MPI error, error stack:";
  EXPECT_THAT(ranks("Abort(1091215) on node 5 (rank 5 in comm 0): " + error), ElementsAre(5, 5));
  EXPECT_THAT(ranks("Abort(-7) (rank 5 in comm 0): " + error), ElementsAre(5, 5));
  EXPECT_THAT(ranks("Abort(1091215) on node 5 (rank 5 in comm 3): " + error), ElementsAre(-1, -1));
  EXPECT_THAT(ranks(error), ElementsAre(-1, -1));
}

TEST(Heading, OfATracebackTellsWhoseTheFramesAreAndWhatWasRaised) {
  const std::vector<std::string> lines = {
      "[2026-03-05 02:47:11 TP13] Scheduler hit an exception: Traceback (most recent call last):",
      "  File \"a.py\", line 3, in f", "    g()", "RuntimeError: open: no such protocol",
      "the program's own line"};
  const std::vector<Told> told = unwrap_all(lines);
  ASSERT_EQ(told.size(), 5U);
  for (std::size_t row = 0; row <= 3; ++row) EXPECT_EQ(told[row].rank, 13) << row;
  EXPECT_EQ(told[4], (Told{.text = "the program's own line"}));
  EXPECT_EQ(unwrap_all_with_restarts(lines), told);
}

TEST(Heading, WhatALoggerPutsBeforeEachLineOfATracebackIsTakenOff) {
  const auto unwrapped = [](const std::string& before, const std::string& then, int rank) {
    const std::vector<std::string> lines = {
        before + "Traceback (most recent call last):", then + "  File \"a.py\", line 3, in f",
        "node7:4242:4243 [0] NCCL INFO x", then + "KeyError: 'lr'", then + "step 12"};
    const std::vector<Told> told = unwrap_all(lines);
    EXPECT_EQ(unwrap_all_with_restarts(lines), told);
    ASSERT_EQ(told.size(), 5U);
    EXPECT_EQ(told[1].text, "  File \"a.py\", line 3, in f");
    EXPECT_EQ(told[3].text, "KeyError: 'lr'");
    for (const std::size_t row : {0, 1, 3}) EXPECT_EQ(told[row].rank, rank) << row;
    EXPECT_EQ(told[2].rank, -1);
  };
  for (const auto& [before, then, rank] : std::vector<std::tuple<std::string, std::string, int>>{
           {"2026-03-05 02:47:11,123 | ERROR | [Rank 5] ",
            "2026-03-05 02:47:12,4 | ERROR | [Rank 5] ", 5},
           {"[1,mpirank:5,algo-1]<stderr>:", "[1,mpirank:5,algo-1]<stderr>:", 5},
           {"[ERROR] [train:120] [PID:4242] [RANK:5] ", "[ERROR] [train:99] [PID:4242] [RANK:5] ",
            5},
           {"rank5[4242][MainThread]: ", "rank5[4242][MainThread]: ", 5},
           {"[local_rank=5] ", "[local_rank=5] ", -1},
           {"[Node Rank 5] ", "[Node Rank 5] ", -1},
           {"local-rank 5: ", "local-rank 5: ", -1},
           {"[TP rank 5] ", "[TP rank 5] ", -1},
           {"[Global Rank 5] ", "[Global Rank 5] ", 5},
           {"Rank5: ", "Rank5: ", 5},
           {"wandb: ERROR ", "wandb: ERROR ", -1}}) {
    SCOPED_TRACE(before);
    unwrapped(before, then, rank);
  }
}

TEST(Heading, RanksWhoseTracebacksMixKeepTheirOwnLines) {
  const std::string head = "Traceback (most recent call last):";
  const std::vector<Told> told = unwrap_all(
      {"<Rank 5> " + head, "<Rank 7> " + head, "<Rank 5>   File \"a.py\", line 3, in f",
       "<Rank 7>   File \"b.py\", line 4, in g", "<Rank 5> KeyError: 1", "<Rank 7> KeyError: 2"});
  ASSERT_EQ(told.size(), 6U);
  std::vector<int> ranks;
  for (const Told& one : told) ranks.push_back(one.rank);
  EXPECT_THAT(ranks, ElementsAre(5, 7, 5, 7, 5, 7));
  EXPECT_EQ(told[5].text, "KeyError: 2");
}

TEST(Heading, OfATracebackIsOverWhereAnotherProcessSpeaks) {
  const std::string head = "[2026-03-05 02:47:11 TP13] x: Traceback (most recent call last):";
  for (const std::string line :
       {"node7:4242:4243 [0] NCCL INFO AllReduce: opCount 1e", "[rank3]: x", "step 7 of 12: loss 3",
        "2026-03-05T02:47:12Z x", ""}) {
    SCOPED_TRACE(line);
    const std::vector<Told> told = unwrap_all({head, line, "  File \"a.py\", line 3, in f"});
    ASSERT_EQ(told.size(), 3U);
    EXPECT_NE(told[1].rank, 13);
    EXPECT_EQ(told[2].rank, -1);
  }
}

TEST(Heading, OfATracebackGivesWayToTheLabelsOfItsRows) {
  const std::vector<Told> told = unwrap_all(
      {"3: Traceback (most recent call last):", "3:   File \"a.py\", line 3, in f", "4: x"});
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[1].text, "  File \"a.py\", line 3, in f");
  EXPECT_EQ(told[1].rank, 3);
  EXPECT_EQ(told[2].rank, 4);
}

TEST(Heading, AWallAmongTheRowsOfATracebackTellsOfItsOwnLines) {
  const std::vector<Told> told =
      unwrap_all({"| 5 | Traceback (most recent call last):", "| 5 |   File \"a.py\", line 3, in f",
                  kWall[1], kWall[2]});
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[2].host, "gpu-node-7");
}

TEST(Heading, OutlivesARestart) {
  EXPECT_EQ(unwrap_all_with_restarts(kWall), unwrap_all(kWall));
  const std::vector<std::string> stack = {
      "Abort(1091215) on node 5 (rank 5 in comm 0): Fatal error in PMPI_Init: Other MPI error, "
      "error stack:",
      "MPIR_Init_thread(138)........:", "x"};
  EXPECT_EQ(unwrap_all_with_restarts(stack), unwrap_all(stack));
}

}  // namespace
}  // namespace faultline
