// MTU, paths, hosts and measurements between hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "tool_reports.h"

namespace faultline {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
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

TEST(MpiBenchmarks, ACliffBetweenTwoSizesIsSlowAndAStepIsNot) {
  const auto told = [](const std::string& name, const std::string& value) {
    return PartReport{.tool = "mpi-benchmark", .kind = "host", .values = {{name, value}}};
  };
  for (const auto& [name, steep, step] :
       {std::tuple("latency jumps", "42.8 times longer", "3.1 times longer"),
        std::tuple("bandwidth falls", "6.8 times less", "1.4 times less")}) {
    Job slow;
    slow.part("node-1", told(name, steep));
    ASSERT_THAT(causes(slow.diagnosis().root_causes), ElementsAre("performance.bandwidth_low"));
    EXPECT_THAT(slow.diagnosis().root_causes.front().title, HasSubstr(steep));
    Job sound;
    sound.part("node-1", told(name, step));
    EXPECT_TRUE(sound.diagnosis().root_causes.empty()) << name;
  }
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

TEST(Bandwidth, OfAPortThatOnlyItsSwitchTellsOfIsComparedWithNoRate) {
  Job job = sixteen_ranks();
  job.part("node-0", {.tool = "iblinkinfo",
                      .kind = "link",
                      .names = {{"node", "leaf01"},
                                {"port", "1"},
                                {"peer_host", "node-1"},
                                {"peer_device", "mlx5_0"},
                                {"peer_port", "1"}},
                      .values = {{"state", "Active"}}});
  job.part("node-1", {.tool = "perftest",
                      .kind = "path",
                      .names = {{"to", "node-0"}},
                      .values = {{"#bytes", "65536"}, {"BW average[Gb/sec]", "97.12"}}});
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

PartReport pings(const std::string& tool, const std::string& sent, const std::string& received) {
  return {.tool = tool,
          .kind = "path",
          .names = {{"to", "gpu-9"}},
          .values = {{"packets transmitted", sent}, {"received", received}}};
}

Diagnosis alone(const PartReport& report) {
  Job job;
  job.part("", report);
  return job.diagnosis();
}

TEST(Loss, OfPingsIsSaidWhereNoJobIsKnown) {
  for (const char* tool : {"ping", "ibping"}) {
    const Diagnosis diagnosis = alone(pings(tool, "50", "31"));
    ASSERT_THAT(causes(diagnosis.root_causes), ElementsAre("network.link_errors")) << tool;
    EXPECT_EQ(diagnosis.root_causes.front().title, "19 of 50 pings to gpu-9 were lost (38 %)");
    EXPECT_LT(diagnosis.root_causes.front().confidence, 0.8);
    EXPECT_EQ(diagnosis.verdict, Verdict::slow);
  }
}

TEST(Loss, OfNoneOrOfTheFirstPingAccusesNobodyAndIsNoHealth) {
  for (const char* received : {"50", "49"}) {
    const Diagnosis diagnosis = alone(pings("ping", "50", received));
    EXPECT_THAT(diagnosis.root_causes, testing::IsEmpty());
    EXPECT_EQ(diagnosis.verdict, Verdict::unknown);
    EXPECT_THAT(diagnosis.summary,
                HasSubstr(fmt::format("{} of 50 pings to gpu-9 were answered", received)));
  }
}

TEST(Loss, OfAllPingsIsHardlyAFaultOfAJobThatWorks) {
  EXPECT_THAT(causes(alone(pings("ping", "5", "0")).root_causes), ElementsAre("network.peer_lost"));
  Job job = sixteen_ranks();
  job.part("node-0", pings("ping", "5", "0"));
  EXPECT_EQ(job.diagnosis().verdict, Verdict::healthy);
}

PartReport segments(const std::string& kind, const std::string& sent, const std::string& again) {
  return {.tool = "tcp-statistics",
          .kind = kind,
          .names = {},
          .values = {{"segments sent", sent}, {"segments sent again", again}}};
}

TEST(Loss, OfManySegmentsIsCongestionAndOfFewIsNothing) {
  for (const char* kind : {"path", "host"}) {
    const Diagnosis many = alone(segments(kind, "500000", "21000"));
    ASSERT_THAT(causes(many.root_causes), ElementsAre("network.congestion"));
    EXPECT_THAT(many.summary, HasSubstr("4.20 % of TCP segments were sent again"));
    EXPECT_LT(many.root_causes.front().confidence, 0.6);
    const Diagnosis few = alone(segments(kind, "500000", "210"));
    EXPECT_THAT(few.root_causes, testing::IsEmpty());
    EXPECT_EQ(few.verdict, Verdict::unknown);
    EXPECT_THAT(few.summary, HasSubstr("0.042 % of 500000 TCP segments were sent again"));
  }
  EXPECT_THAT(alone(segments("path", "50", "9")).root_causes, testing::IsEmpty());
}

PartReport iperf3(const std::string& rate, const std::string& transfer, const std::string& again,
                  bool summed = false) {
  return {.tool = "iperf3",
          .kind = "path",
          .names = {},
          .values = {{"sender / Transfer", transfer},
                     {"sender / Bitrate", rate},
                     {"sender / Retr", again},
                     {"streams", summed ? "summed" : "one"}}};
}

TEST(Loss, TheOtherEndIsOneWordOfTheShell) {
  PartReport silent = iperf3("0 bits/sec", "0 Bytes", "3");
  silent.names = {{"to", "10.0.0.3;reboot"}};
  silent.values.push_back({"silent intervals", "5"});
  const Diagnosis diagnosis = alone(silent);
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_THAT(diagnosis.root_causes.front().actions,
              Contains(Field(&Action::command, HasSubstr("-s 8972 '10.0.0.3;reboot';"))));
}

TEST(Loss, InATestOfTcpIsMentionedOrBlamed) {
  const Diagnosis some = alone(iperf3("8.6 Gbits/sec", "30.1 GBytes", "2100"));
  EXPECT_EQ(some.verdict, Verdict::unknown);
  ASSERT_THAT(causes(some.observations), ElementsAre("network.congestion"));
  EXPECT_THAT(some.observations.front().title, HasSubstr("2100 segments again in 32.3 GB"));
  EXPECT_THAT(causes(alone(iperf3("0.9 Gbits/sec", "1.1 GBytes", "20000")).root_causes),
              ElementsAre("network.congestion"));
  const Diagnosis few = alone(iperf3("8.6 Gbits/sec", "30.1 GBytes", "210"));
  EXPECT_THAT(few.observations, testing::IsEmpty());
  EXPECT_EQ(few.verdict, Verdict::unknown);
  EXPECT_THAT(few.summary, HasSubstr("iperf3 8.6 Gbits/sec"));
}

TEST(Bandwidth, IsHeldAgainstTheOnlyLinkThatTheSameLogNames) {
  const auto tcp = [](const std::string& rate, bool summed) {
    Job job;
    job.part("", {.tool = "ethtool",
                  .kind = "netdev",
                  .names = {{"netdev", "eth2"}},
                  .values = {{"Speed", "200000Mb/s"}, {"Link detected", "yes"}}});
    job.part("", iperf3(rate, "100 GBytes", "0", summed));
    return job.diagnosis();
  };
  const Diagnosis low = tcp("9.1 Gbits/sec", false);
  ASSERT_THAT(causes(low.root_causes), ElementsAre("performance.bandwidth_low"));
  EXPECT_EQ(low.root_causes.front().title, "iperf3 measured 9.1 Gb/s over a link of 200 Gb/s");
  // One core limits a single stream.
  EXPECT_THAT(tcp("38 Gbits/sec", false).root_causes, testing::IsEmpty());
  EXPECT_THAT(causes(tcp("38 Gbits/sec", true).root_causes),
              ElementsAre("performance.bandwidth_low"));
  EXPECT_THAT(tcp("181 Gbits/sec", true).root_causes, testing::IsEmpty());
}

TEST(Bandwidth, ATestOfRdmaThatEndedWithAnErrorSaysWhich) {
  const auto ended = [](const std::string& error) {
    return alone({.tool = "perftest", .kind = "path", .names = {}, .values = {{"error", error}}});
  };
  const Diagnosis silent = ended("Failed status 12: wr_id 0 syndrom 0x81");
  EXPECT_THAT(causes(silent.root_causes), ElementsAre("network.transport_error"));
  EXPECT_THAT(silent.root_causes.front().title, HasSubstr("got no answer"));
  // This also happens where the two ends were started with different options.
  const Diagnosis refused = ended("Failed status 10: wr_id 0 syndrom 0x88");
  EXPECT_THAT(causes(refused.root_causes), ElementsAre("network.transport_error"));
  EXPECT_THAT(refused.root_causes.front().title, HasSubstr("ended with an error: status 10"));
  EXPECT_LT(refused.root_causes.front().confidence, silent.root_causes.front().confidence);
  EXPECT_THAT(ended("Failed status 0: success").root_causes, testing::IsEmpty());
}

TEST(Bandwidth, OfRdmaThatFallsWithTheSizeIsACliff) {
  const auto rdma = [](const std::string& large) {
    return alone({.tool = "perftest",
                  .kind = "path",
                  .names = {},
                  .values = {{"#bytes", "8388608"},
                             {"BW average[MB/sec]", large},
                             {"best BW average[MB/sec]", "23100.2"}}});
  };
  const Diagnosis cliff = rdma("3900.5");
  ASSERT_THAT(causes(cliff.root_causes), ElementsAre("performance.bandwidth_low"));
  EXPECT_THAT(cliff.root_causes.front().title, HasSubstr("fell to 32.7 Gb/s"));
  const Diagnosis level = rdma("22800.1");
  EXPECT_THAT(level.root_causes, testing::IsEmpty());
  EXPECT_EQ(level.verdict, Verdict::unknown);
  EXPECT_THAT(level.summary, HasSubstr("RDMA 22800.1 MB/sec with messages of 8 MiB"));
}

}  // namespace
}  // namespace faultline
