// Lines of a healthy job, as in the reference of each version.
#include "simulate/rank_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "simulated.h"

namespace faultline::simulation {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The log of a rank in a job of two hosts with two GPUs; pointers and ids are replaced.
std::string log_of(const std::string& nccl, int rank = 1, int pipeline = 1) {
  Options options = small_job("healthy", nccl);
  options.pipeline_parallel = pipeline;
  const Simulated job = simulated(options);
  const std::string text = job.files.at("logs/gpu-node-" + std::to_string(rank / 2 + 1) +
                                        "/nccl.rank" + std::to_string(rank) + ".log");
  return std::regex_replace(text, std::regex("0x[0-9a-f]+"), "0x1");
}

TEST(RankLog, SetsUpACommunicatorInTheWordsOfTheVersion) {
  struct Case {
    const char* nccl;
    const char* line;
  };
  const Case cases[] = {
      {"2.7.8", "comm 0x1 rank 1 nranks 4 cudaDev 1 busId 3b000 - Init COMPLETE\n"},
      {"2.12.12", "comm 0x1 rank 1 nranks 4 cudaDev 1 busId 3b000 - Init COMPLETE\n"},
      {"2.18.3",
       "comm 0x1 rank 1 nranks 4 cudaDev 1 nvmlDev 1 busId 3b000 commId 0x1 - Init START\n"},
      {"2.21.5",
       "ncclCommInitRank comm 0x1 rank 1 nranks 4 cudaDev 1 nvmlDev 1 busId 3b000 commId 0x1 - "
       "Init COMPLETE\n"},
      {"2.21.5",
       "ncclCommSplit comm 0x1 rank 0 nranks 2 cudaDev 1 nvmlDev 1 busId 3b000 parent 0x1 color 1 "
       "key 1 commId 0x1 - Init START\n"},
      {"2.23.4",
       "ncclCommSplit comm 0x1 rank 0 nranks 2 cudaDev 1 nvmlDev 1 busId 3b000 parent 0x1 color 1 "
       "key 1- Init START\n"},
      {"2.27.7",
       "ncclCommSplit comm 0x1 rank 0 nranks 2 cudaDev 1 nvmlDev 1 busId 3b000 parent 0x1 "
       "splitCount 1 color 1 key 1 - Init COMPLETE\n"},
      {"2.30.7",
       "[Rank 1] ncclCommInitRankConfig comm 0x1 rank 1 nranks 4 cudaDev 1 nvmlDev 1 busId 3b000 "
       "commId 0x1 - Init START\n"},
      {"2.27.7", "comm 0x1 rank 1 nRanks 4 nNodes 2 localRanks 2 localRank 1 MNNVL 0\n"},
      {"2.7.8", "Channel 00 : 1[3b000] -> 2[19000] [send] via NET/IB/1/GDRDMA\n"},
      {"2.12.12", "Channel 00/0 : 1[3b000] -> 2[19000] [send] via NET/IB/1/GDRDMA\n"},
      {"2.27.7", "Channel 01/0 : 1[1] -> 2[0] [send] via NET/IB/1/GDRDMA\n"},
      {"2.7.8", "Trees [0] 3/-1/-1->1->0|0->1->3/-1/-1 [1]"},
      {"2.27.7", "Trees [0] 3/-1/-1->1->0 [1]"},
      {"2.21.5", "Bootstrap : Using eth0:10.0.0.11<0>\n"},
      {"2.27.7", "Bootstrap: Using eth0:10.0.0.11<0>\n"},
      {"2.21.5", "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.11<0>\n"},
      {"2.7.8", "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB ; OOB eth0:10.0.0.11<0>\n"},
      {"2.27.7", "Connected all rings, use ring PXN 0 GDR 1\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.nccl);
    EXPECT_THAT(log_of(c.nccl), HasSubstr(c.line));
  }
}

TEST(RankLog, ConnectsAtTheFirstCallFrom222On) {
  const auto before = [](const std::string& text) {
    return text.find("Connected all rings") < text.find("Broadcast: opCount");
  };
  EXPECT_TRUE(before(log_of("2.21.5")));
  EXPECT_FALSE(before(log_of("2.23.4")));
}

TEST(RankLog, CallsWithTheBuffersAndCountsOfTheVersion) {
  // AllGather and Broadcast count bytes up to 2.12.
  EXPECT_THAT(log_of("2.12.12"),
              AllOf(HasSubstr("Broadcast: opCount 0 sendbuff 0x1 recvbuff 0x1 count 262144 "
                              "datatype 0 op 0 root 0 comm 0x1 [nranks=4] stream 0x1\n"),
                    HasSubstr("AllReduce: opCount 2 sendbuff 0x1 recvbuff 0x1 count 8388608 "
                              "datatype 9 op 0 root 0 comm 0x1 [nranks=2] stream 0x1\n")));
  EXPECT_THAT(log_of("2.18.3"), HasSubstr("Broadcast: opCount 0 sendbuff 0x1 recvbuff 0x1 count "
                                          "65536 datatype 7 op 0 root 0"));
  EXPECT_THAT(log_of("2.7.8", 0, 2), HasSubstr("Send: opCount 0 sendbuff 0x1 recvbuff (nil)"));
  EXPECT_THAT(log_of("2.21.5", 0, 2), HasSubstr("Send: opCount 0 sendbuff (nil) recvbuff 0x1"));
}

std::set<std::string> op_counts(const std::string& log, const std::string& ranks) {
  std::set<std::string> counts;
  const std::regex call("opCount ([0-9a-f]+) .*nranks=" + ranks);
  for (const std::string& line : lines_of(log)) {
    std::smatch match;
    if (std::regex_search(line, match, call)) counts.insert(match[1]);
  }
  return counts;
}

TEST(RankLog, CountsOperationsAsTheVersionDoes) {
  Options options = small_job("healthy", "2.27.7");
  options.gpus_per_node = 4;
  options.steps = 12;
  const Simulated job = simulated(options);
  const std::string& edge = job.files.at("logs/gpu-node-1/nccl.rank0.log");
  const std::string& inner = job.files.at("logs/gpu-node-1/nccl.rank1.log");
  // A communicator inside a host has no work for a NIC and stays at 0.
  EXPECT_THAT(op_counts(edge, "4"), testing::ElementsAre("0"));
  // Small collectives of all ranks use the NIC only where the ring leaves the host.
  EXPECT_EQ(op_counts(edge, "8").size(), 8U);
  EXPECT_EQ(op_counts(inner, "8").size(), 1U);
}

TEST(RankLog, TellsTheVersionWhereItsVersionDoes) {
  const auto told = [](const std::string& nccl) {
    int ranks = 0;
    for (int rank = 0; rank < 4; ++rank)
      ranks += log_of(nccl, rank).find("NCCL version " + nccl + "+cuda") != std::string::npos;
    return ranks;
  };
  EXPECT_EQ(told("2.21.5"), 2);  // the first of each tensor-parallel group
  EXPECT_EQ(told("2.23.4"), 4);
}

TEST(RankLog, EndsInSilenceWhereTheVersionDoes) {
  EXPECT_THAT(log_of("2.7.8"), Not(HasSubstr("Destroy")));
  EXPECT_THAT(log_of("2.12.12"),
              HasSubstr("comm 0x1 rank 1 nranks 4 cudaDev 1 busId 3b000 - Destroy COMPLETE\n"));
  EXPECT_THAT(log_of("2.30.7"), Not(HasSubstr("Destroy")));
}

}  // namespace
}  // namespace faultline::simulation
