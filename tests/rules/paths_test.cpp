// MTU, paths, hosts and what was measured between them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool_reports.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Mtu, ThatDiffersOnAnInterfaceOfTheJobIsACause) {
  Job job;
  job.join_all(24);
  job.call(ranks(0, 24), all_reduce(), 10);
  for (int rank = 0; rank < 24; ++rank)
    job.setting(rank, "interface", "bootstrap", fmt::format("eth0:10.0.0.{}", rank / 8));
  for (int host = 0; host < 3; ++host)
    job.part(fmt::format("node-{}", host), netdev("eth0", host == 1 ? "1500" : "9000"));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.mtu_mismatch"));
  EXPECT_EQ(diagnosis.root_causes.front().title,
            "The MTU of eth0 differs: 1500 on node-1; 9000 on the others");
  EXPECT_THAT(diagnosis.root_causes.front().subject.hosts, ElementsAre("node-1"));
}

TEST(Mtu, OfBridgesAndOfOtherHostsMayDiffer) {
  Job job = sixteen_ranks();
  job.part("node-0", netdev("docker0", "1500"));
  job.part("node-1", netdev("docker0", "9000"));
  job.part("node-0", netdev("eth0", "9000"));
  job.part("node-1", netdev("eth0", "9000"));
  job.part("node-9", netdev("eth0", "1500"));
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

PartReport ping(const std::string& to, const std::string& bytes, const std::string& received) {
  return {.tool = "ping",
          .kind = "path",
          .names = {{"to", to}},
          .values = {{"bytes", bytes}, {"packets transmitted", "3"}, {"received", received}}};
}

TEST(Mtu, APathThatLosesLargePacketsAloneIsABlackHole) {
  Job job = sixteen_ranks();
  job.part("node-0", ping("node-1", "1472(1500)", "3"));
  job.part("node-0", ping("node-1", "8972(9000)", "0"));
  ASSERT_THAT(causes(job.diagnosis().root_causes), ElementsAre("network.mtu_mismatch"));

  Job healthy = sixteen_ranks();
  healthy.part("node-0", ping("node-1", "1472(1500)", "3"));
  healthy.part("node-0", ping("node-1", "8972(9000)", "3"));
  EXPECT_EQ(healthy.diagnosis().verdict, Verdict::healthy);
}

TEST(Mtu, ARouterThatAsksForFragmentsIsHeardAmongOtherErrors) {
  Job job = sixteen_ranks();
  job.part("node-0", {.tool = "ping",
                      .kind = "path",
                      .names = {{"to", "node-1"}},
                      .values = {{"bytes", "8972(9000)"},
                                 {"error", "Frag needed and DF set (mtu = 1500)"},
                                 {"error", "local error: message too long, mtu=1500"},
                                 {"received", "0"}}});
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.mtu_mismatch"));
  EXPECT_THAT(diagnosis.root_causes.front().title, HasSubstr("node-0 to node-1"));
  EXPECT_EQ(diagnosis.root_causes.front().severity, Severity::error);
}

TEST(Paths, RefusedMeanSomethingOnlyBeforeTheJobRan) {
  const PartReport refused{.tool = "nc",
                           .kind = "path",
                           .names = {{"to", "10.0.0.8"}, {"port", "29500"}},
                           .values = {{"error", "Connection refused"}}};
  Job starting;
  starting.part("node-1", refused);
  ASSERT_THAT(causes(starting.diagnosis().root_causes), ElementsAre("launch.connect_failed"));
  Job running = sixteen_ranks();
  running.part("node-1", refused);
  EXPECT_EQ(running.diagnosis().verdict, Verdict::healthy);
}

TEST(Hosts, WhoseSharedMemoryIsFullAreNamed) {
  const auto df = [](const std::string& use, const std::string& mount) {
    return PartReport{.tool = "df",
                      .kind = "host",
                      .names = {{"mount", mount}, {"filesystem", "shm"}},
                      .values = {{"Size", "64M"}, {"Used", "64M"}, {"Use%", use}}};
  };
  Job job = sixteen_ranks();
  job.part("node-1", df("100%", "/dev/shm"));
  ASSERT_THAT(causes(job.diagnosis().root_causes), ElementsAre("host.shm_full"));
  EXPECT_THAT(job.diagnosis().root_causes.front().subject.hosts, ElementsAre("node-1"));

  Job healthy = sixteen_ranks();
  healthy.part("node-1", df("100%", "/snap/core"));
  healthy.part("node-1", df("3%", "/dev/shm"));
  EXPECT_EQ(healthy.diagnosis().verdict, Verdict::healthy);
}

TEST(Bandwidth, FarUnderTheRateOfTheLinkIsLow) {
  const auto test = [](const std::string& gbits) {
    return PartReport{.tool = "perftest",
                      .kind = "path",
                      .names = {{"device", "mlx5_0"}, {"to", "node-0"}},
                      .values = {{"#bytes", "65536"}, {"BW average[Gb/sec]", gbits}}};
  };
  Job job = sixteen_ranks();
  job.part("node-1", ibstat("mlx5_0", "20", "0x200"));
  job.part("node-1", test("97.12"));
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("performance.bandwidth_low"));
  EXPECT_EQ(diagnosis.root_causes.front().title,
            "node-1/mlx5_0:1 measured 97.1 Gb/s over a link of 400 Gb/s");

  Job healthy = sixteen_ranks();
  healthy.part("node-1", ibstat("mlx5_0", "20", "0x200"));
  healthy.part("node-1", test("391.80"));
  EXPECT_EQ(healthy.diagnosis().verdict, Verdict::healthy);
}

}  // namespace
}  // namespace faultline
