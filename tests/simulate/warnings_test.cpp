// How each version words the same message, compared with lines of real logs.
#include "simulate/warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulate/voice.h"

namespace faultline::simulation {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

const NcclVersion& version(std::string_view name) { return *closest_version(name); }

const Completion kFailed{.status = 12,
                         .sends = true,
                         .peer = "10.0.0.12<51544>",
                         .local_gid = "::ffff:10.1.1.11",
                         .remote_gid = "::ffff:10.1.1.12",
                         .hca = "mlx5_1",
                         .device = 1};

std::string said(std::string_view nccl) {
  for (const Words& words : completion_error(version(nccl), kFailed))
    if (words.warn && words.message.find("Got completion") != std::string::npos)
      return words.message;
  return "";
}

TEST(Warnings, WordAFailedCompletionAsTheirVersionDoes) {
  EXPECT_EQ(said("2.7.8"),
            "NET/IB : Got completion with error 12, opcode 32501, len 32499, vendor err 129");
  EXPECT_EQ(said("2.12.12"),
            "NET/IB : Got completion from peer 10.0.0.12<51544> with error 12, opcode 32501, len "
            "32499, vendor err 129");
  EXPECT_EQ(said("2.18.3"),
            "NET/IB : Got completion from peer 10.0.0.12<51544> with error 12, opcode 32501, len "
            "32499, vendor err 129 (Send) localGid ::ffff:10.1.1.11 remoteGid ::ffff:10.1.1.12");
  EXPECT_EQ(said("2.21.5"),
            "NET/IB : Got completion from peer 10.0.0.12<51544> with status=12 opcode=32501 "
            "len=32499 vendor err 129 (Send) localGid ::ffff:10.1.1.11 "
            "remoteGids::ffff:10.1.1.12");
  EXPECT_EQ(said("2.27.7"),
            "NET/IB: Got completion from peer 10.0.0.12<51544> with status=12 opcode=32501 "
            "len=32499 vendor err 129 (Send) localGid ::ffff:10.1.1.11 "
            "remoteGids::ffff:10.1.1.12 hca mlx5_1");
  EXPECT_THAT(said("2.30.7"), StartsWith("NET/IB: Got completion from peer 10.0.0.12<51544> with "
                                         "status=IBV_WC_RETRY_EXC_ERR(12) opcode="));
}

TEST(Warnings, TellTheirWayUpAsFarAsTheVersionLetsErrorsGo) {
  const auto trace = [](std::string_view nccl) {
    std::vector<std::string> all;
    for (const Words& words : completion_error(version(nccl), kFailed))
      if (!words.warn) all.push_back(words.message);
    return all;
  };
  EXPECT_THAT(trace("2.12.12"), ElementsAre("transport/net.cc:1134 -> 2", "proxy.cc:698 -> 2",
                                            "proxy.cc:878 -> 2 [Proxy Thread]"));
  EXPECT_THAT(trace("2.21.5"), ElementsAre("transport/net.cc:1134 -> 6", "proxy.cc:698 -> 6",
                                           "proxy.cc:878 -> 6 [Progress Thread]"));
  EXPECT_THAT(trace("2.27.7"), ElementsAre("transport/net.cc:1134 -> 6"));
  EXPECT_THAT(trace("2.30.7"),
              ElementsAre("transport/net.cc:1134 (sendProxyProgress) -> 6",
                          "proxy.cc:878 (ncclProxyProgress) -> 6 [Progress Thread]"));
  EXPECT_FALSE(network_errors_surface(version("2.18.3")));
  EXPECT_FALSE(network_errors_surface(version("2.27.7")));
  EXPECT_TRUE(network_errors_surface(version("2.21.5")));
}

TEST(Warnings, ComeFromTheThreadThatConnects) {
  const auto threads = [](std::string_view nccl) {
    std::vector<Thread> all;
    for (const Words& words : out_of_gpu_memory(version(nccl)))
      if (all.empty() || all.back() != words.thread) all.push_back(words.thread);
    return all;
  };
  EXPECT_THAT(threads("2.21.5"), ElementsAre(Thread::init));
  EXPECT_THAT(threads("2.23.4"), ElementsAre(Thread::connect));
}

TEST(Warnings, AreStampedAndPlacedAsTheirVersionDoes) {
  const Timestamp now{std::chrono::seconds{1'772'678'819}};
  const auto line = [&](std::string_view nccl) {
    const Voice voice("gpu-a", 4400, 1, version(nccl));
    std::string text;
    voice.say(text, port_event(version(nccl), "mlx5_1", PortEvent::error), now);
    return text;
  };
  EXPECT_EQ(line("2.18.3"),
            "\ngpu-a:4400:4504 [0] transport/net_ib.cc:101 NCCL WARN NET/IB : Got async event : "
            "port error\n");
  EXPECT_EQ(line("2.21.5"),
            "\ngpu-a:4400:4504 [0] transport/net_ib.cc:101 NCCL WARN NET/IB : mlx5_1:1 Got async "
            "event : port error\n");
  EXPECT_EQ(line("2.27.7"),
            "\n[2026-03-05 02:46:59] gpu-a:4400:4504 [0] transport/net_ib.cc:101 NCCL WARN NET/IB "
            ": mlx5_1:1 Got async error event: port error\n");
  EXPECT_EQ(line("2.30.7"),
            "\n[2026-03-05 02:46:59] gpu-a:4400:4504 [0] transport/net_ib/common.cc:101 "
            "(ncclIbAsyncThreadMain) NCCL WARN NET/IB : mlx5_1:1 Got non-fatal async event: port "
            "error(10)\n");
}

}  // namespace
}  // namespace faultline::simulation
