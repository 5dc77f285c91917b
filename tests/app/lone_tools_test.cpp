// What one tool printed, pasted alone: it is judged as that. Health is nothing that a single tool
// could tell.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "simulated_diagnosis.h"
#include "workshop.h"

namespace faultline {
namespace {

using Files = std::map<std::string, std::string>;

struct Answer {
  Verdict verdict = Verdict::unknown;
  std::string first;  // class of the first cause
  double confidence = 0;
};

Answer answer_to(const Files& files) {
  Workshop workshop;
  for (const auto& [name, text] : files) workshop.write("pasted/" + name, text);
  const Diagnosis diagnosis = diagnosis_of(workshop.folder() / "pasted");
  if (diagnosis.root_causes.empty()) return {.verdict = diagnosis.verdict};
  const Finding& first = diagnosis.root_causes.front();
  return {diagnosis.verdict, std::string(name_of(first.cause)), first.confidence};
}

std::string ibstat(const std::string& state, const std::string& physical) {
  return fmt::format(
      "CA 'mlx5_2'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tFirmware version: 28.39.1002\n"
      "\tNode GUID: 0x946dae0300d2b1c4\n\tPort 1:\n\t\tState: {}\n\t\tPhysical state: {}\n"
      "\t\tRate: 400\n\t\tBase lid: 19\n\t\tSM lid: 1\n\t\tLink layer: InfiniBand\n",
      state, physical);
}

std::string perfquery(const std::string& symbols) {
  return fmt::format(
      "# Port counters: Lid 27 port 1 (CapMask: 0x5300)\n"
      "PortSelect:......................1\nCounterSelect:...................0x0000\n"
      "SymbolErrorCounter:..............{}\nLinkErrorRecoveryCounter:........0\n"
      "LinkDownedCounter:...............0\nPortRcvErrors:...................0\n"
      "PortXmitDiscards:................0\nPortXmitData:....................99812233\n",
      symbols);
}

std::string nvlinks(int crc) {
  return fmt::format(
      "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0f2d6c11-aaaa-bbbb-cccc-1234567890ab)\n"
      "\t Link 0: Replay Errors: 0\n\t Link 0: Recovery Errors: 0\n\t Link 0: CRC Errors: 2\n"
      "\t Link 1: Replay Errors: 0\n\t Link 1: Recovery Errors: 0\n\t Link 1: CRC Errors: 0\n"
      "\t Link 2: Replay Errors: 0\n\t Link 2: Recovery Errors: 0\n\t Link 2: CRC Errors: {}\n",
      crc);
}

std::string ip_link(int mtu) {
  return fmt::format(
      "4: ens5: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu {} qdisc mq state UP mode DEFAULT group "
      "default qlen 1000\n    link/ether 0e:aa:bb:cc:dd:0{} brd ff:ff:ff:ff:ff:ff\n",
      mtu, mtu % 7);
}

TEST(LoneTools, FaultsArePossibleAndNothingElseIsHealth) {
  const struct {
    const char* what;
    Files faulty;
    const char* cause;
    Files sound;
  } cases[] = {
      {"a port that is down",
       {{"ibstat.txt", ibstat("Down", "Polling")}},
       "network.link_down",
       {{"ibstat.txt", ibstat("Active", "LinkUp")}}},
      {"a counter that holds no more",
       {{"perfquery.txt", perfquery("65535")}},
       "network.link_errors",
       {{"perfquery.txt", perfquery("0")}}},
      {"a link that its siblings are better than",
       {{"nvlink.txt", nvlinks(9120)}},
       "gpu.nvlink_error",
       {{"nvlink.txt", nvlinks(3)}}},
      {"two MTUs",
       {{"node-1.txt", ip_link(9000)}, {"node-2.txt", ip_link(1500)}},
       "network.mtu_mismatch",
       {{"node-1.txt", ip_link(9000)}, {"node-2.txt", ip_link(9000)}}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    const Answer faulty = answer_to(c.faulty);
    EXPECT_EQ(faulty.first, c.cause);
    EXPECT_GT(faulty.confidence, 0.3);
    EXPECT_LT(faulty.confidence, 0.8) << "no job is known";
    const Answer sound = answer_to(c.sound);
    EXPECT_EQ(sound.verdict, Verdict::unknown) << "no rank was seen";
    EXPECT_EQ(sound.first, "");
  }
}

TEST(LoneTools, APortThatIsDownBesideOnesThatAreUpMayBeUnused) {
  const std::string up = ibstat("Active", "LinkUp");
  std::string down = ibstat("Down", "Disabled");
  down.replace(down.find("mlx5_2"), 6, "mlx5_3");
  down.replace(down.find("b1c4"), 4, "b1c8");
  EXPECT_EQ(answer_to({{"ibstat.txt", up + down}}).first, "");
}

// A GPU of AMD's that fails fails in the first minutes, too.
TEST(LoneTools, AGpuThatFailsWhileTheHostStartsHasFailed) {
  const auto at = [](const char* uptime) {
    return answer_to(
        {{"dmesg.txt",
          fmt::format("[ {}] amdgpu 0000:1c:00.0: amdgpu: GPU reset(1) failed\n", uptime)}});
  };
  const Answer early = at(" 99.000000");
  EXPECT_EQ(early.first, "gpu.hang");
  EXPECT_EQ(early.confidence, at("301.000000").confidence);
}

TEST(LoneTools, RowsOfATableWithoutItsHeadAreRead) {
  const auto rows = [](const std::string& second, const std::string& values) {
    return fmt::format(
        "|   1  NVIDIA A40          On   | 00000000:04:00.0 Off |                    0 |\n"
        "|  0%   25C    P8    13W / 300W |      0MiB / 46068MiB |      0%      Default |\n"
        "|                               |                      |                  N/A |\n"
        "+-------------------------------+----------------------+----------------------+\n"
        "|   2  {}                On   | 00000000:43:00.0 Off |                 ERR! |\n"
        "|{} |      0MiB / 46068MiB |    ERR!      Default |\n",
        second, values);
  };
  const Answer answer = answer_to({{"smi.txt", rows("ERR!", "ERR!  ERR! ERR!    ERR! / ERR!")}});
  EXPECT_EQ(answer.first, "gpu.hang");
  EXPECT_EQ(answer.verdict, Verdict::failed);
  EXPECT_GE(answer.confidence, 0.5);
}

TEST(LoneTools, ALinkIsNarrowOnlyBesideWiderOnes) {
  const auto gpus = [](const std::vector<int>& widths) {
    std::string text = "index, pci.bus_id, pcie.link.width.current, pcie.link.width.max\n";
    for (std::size_t i = 0; i < widths.size(); ++i)
      text += fmt::format("{}, 00000000:{:02X}:00.0, {}, 16\n", i, 0x19 + 16 * i, widths[i]);
    return text;
  };
  EXPECT_LT(answer_to({{"smi.csv", gpus({8})}}).confidence, 0.5);
  EXPECT_LT(answer_to({{"smi.csv", gpus({8, 8, 8, 8})}}).confidence, 0.5);
  const Answer odd = answer_to({{"smi.csv", gpus({16, 16, 8, 16})}});
  EXPECT_EQ(odd.first, "pcie.degraded");
  EXPECT_GT(odd.confidence, 0.5);
  EXPECT_EQ(answer_to({{"smi.csv", gpus({16, 16, 16, 16})}}).first, "");
}

}  // namespace
}  // namespace faultline
