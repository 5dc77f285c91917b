// How GPUs and NICs are connected, and the addresses of RoCE ports, as tools report them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool_reports.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A host of eight GPUs with a NIC each. The links of GPU `odd` and its distance to its NIC differ.
void topology(Job& job, int odd, const std::string& link, const std::string& to_nic) {
  for (int gpu = 0; gpu < 8; ++gpu) {
    PartReport report{
        .tool = "nvidia-smi-topo", .kind = "gpu", .names = {{"index", std::to_string(gpu)}}};
    for (int peer = 0; peer < 8; ++peer)
      if (peer != gpu)
        report.values.push_back(
            {fmt::format("GPU{}", peer), gpu == odd || peer == odd ? link : "NV18"});
    for (int nic = 0; nic < 8; ++nic)
      report.values.push_back(
          {fmt::format("NIC{}", nic), nic != gpu ? "SYS" : (gpu == odd ? to_nic : "PIX")});
    report.values.push_back({"GPU NUMA ID", "N/A"});
    job.part("node-1", report);
  }
}

TEST(Topology, AGpuWithoutLinksWhereAllOthersHaveThemIsNamed) {
  Job job = sixteen_ranks();
  topology(job, 5, "SYS", "PIX");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("config.p2p_disabled"));
  const Finding& finding = diagnosis.root_causes.front();
  EXPECT_EQ(finding.title, "GPU 5 of node-1 has no NVLink to any peer; all others have some");
  EXPECT_THAT(finding.subject.ranks, ElementsAre(13));
  EXPECT_LE(finding.confidence, 0.58);
  EXPECT_EQ(diagnosis.verdict, Verdict::slow);
}

TEST(Topology, AGpuFarFromEveryNicWhereItsPeersAreNearIsNamed) {
  Job job = sixteen_ranks();
  topology(job, 5, "NV18", "SYS");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("config.gdr_disabled"));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("GPU 5 of node-1 has no NIC near"));
}

TEST(Topology, ThatIsTheSameForAllGpusIsHowTheMachineIsBuilt) {
  Job alike = sixteen_ranks();
  topology(alike, -1, "", "");
  EXPECT_EQ(alike.diagnosis().verdict, Verdict::healthy);

  // NVLink bridges join two pairs of GPUs; a fifth GPU has none; there is one NIC.
  Job bridged = sixteen_ranks();
  for (int gpu = 0; gpu < 5; ++gpu) {
    PartReport report{
        .tool = "nvidia-smi-topo", .kind = "gpu", .names = {{"index", std::to_string(gpu)}}};
    for (int peer = 0; peer < 5; ++peer)
      if (peer != gpu)
        report.values.push_back(
            {fmt::format("GPU{}", peer), gpu < 4 && peer / 2 == gpu / 2 ? "NV4" : "PHB"});
    report.values.push_back({"mlx5_0", gpu < 2 ? "PXB" : "SYS"});
    bridged.part("node-1", report);
  }
  EXPECT_EQ(bridged.diagnosis().verdict, Verdict::healthy);
}

PartReport gids(const Named& values) {
  return {.tool = "show_gids",
          .kind = "port",
          .names = {{"device", "mlx5_2"}, {"port", "1"}, {"netdev", "ens1f0np0"}},
          .values = values};
}

const Named kBothVersions{{"GID[0]", "fe80:0000:0000:0000:ba3f:d2ff:fec4:d5e6, v1"},
                          {"GID[1]", "fe80:0000:0000:0000:ba3f:d2ff:fec4:d5e6, v2"},
                          {"GID[3]", "0000:0000:0000:0000:0000:ffff:0a00:0001, 10.0.0.1, v2"}};

// Ranks of node-1 use mlx5_2 with this GID index; if it is empty, NCCL was given none.
Job over_roce(const std::string& index) {
  Job job = sixteen_ranks();
  for (int rank = 8; rank < 16; ++rank) {
    job.setting(rank, "devices", "IB", "mlx5_2:1/RoCE");
    if (!index.empty()) job.setting(rank, "environment", "NCCL_IB_GID_INDEX", index);
  }
  return job;
}

TEST(Gids, AnIndexThatThePortDoesNotHaveIsNamed) {
  Job running = over_roce("5");
  running.part("node-1", gids(kBothVersions));
  EXPECT_TRUE(running.diagnosis().root_causes.empty()) << "what works is no fault";

  Job job;
  job.join_all(16);
  job.setting(8, "devices", "IB", "mlx5_2:1/RoCE");
  job.setting(8, "environment", "NCCL_IB_GID_INDEX", "5");
  job.part("node-1", gids(kBothVersions));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("config.environment_mismatch"));
  EXPECT_EQ(diagnosis.root_causes.front().title,
            "NCCL_IB_GID_INDEX is 5, and node-1/mlx5_2:1 has no address at that index");
}

TEST(Gids, TheRightIndexAndPortsThatTheJobDoesNotUseAreHealthy) {
  for (const char* index : {"3", "1", "-1", ""}) {
    Job job = over_roce(index);
    job.part("node-1", gids(kBothVersions));
    EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy) << index;
  }
  Job unused = sixteen_ranks();
  unused.part("node-1", gids({kBothVersions.front()}));
  EXPECT_EQ(unused.diagnosis().verdict, Verdict::healthy);
}

TEST(Gids, OfTheOldVersionAreMentionedAndAccuseNobodyWhileTheJobRuns) {
  Job told = over_roce("0");
  told.part("node-1", gids(kBothVersions));
  Job only_old = over_roce("");
  only_old.part("node-1", gids({kBothVersions.front()}));
  for (const Job* job : {&told, &only_old}) {
    const std::vector<Finding> found = findings_of(job->diagnosis());
    ASSERT_THAT(causes(found), ElementsAre("config.environment_mismatch"));
    EXPECT_THAT(found.front().title, HasSubstr("RoCE v1"));
    EXPECT_LE(found.front().confidence, 0.58);
    EXPECT_TRUE(job->diagnosis().root_causes.empty());
  }
}

}  // namespace
}  // namespace faultline
