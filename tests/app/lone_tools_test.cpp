// The output of one tool, pasted alone, is judged as just that. A single tool cannot show that a
// job is healthy.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "pasted.h"
#include "workshop.h"

namespace faultline {
namespace {

using Files = std::map<std::string, std::string>;

struct Answer {
  Verdict verdict = Verdict::unknown;
  std::string first;  // the class of the first cause
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

std::string amd_smi_ecc(int uncorrectable) {
  return fmt::format(
      "GPU: 3\n    ECC:\n        TOTAL_CORRECTABLE_COUNT: 1\n        TOTAL_UNCORRECTABLE_COUNT: "
      "{0}\n"
      "        TOTAL_DEFERRED_COUNT: 0\n    ECC_BLOCKS:\n        UMC:\n"
      "            CORRECTABLE_COUNT: 1\n            UNCORRECTABLE_COUNT: {0}\n"
      "            DEFERRED_COUNT: 0\n",
      uncorrectable);
}

std::string amd_smi_width(int width) {
  std::string text;
  for (int gpu = 0; gpu < 4; ++gpu)
    text += fmt::format(
        "GPU: {}\n    PCIE:\n        WIDTH: {}\n        SPEED: 32 GT/s\n        REPLAY_COUNT: "
        "0\n\n",
        gpu, gpu == 2 ? width : 16);
  return text;
}

std::string amd_smi_pages(const std::string& pending) {
  return fmt::format(
      "GPU: 5\n    RETIRED: No bad pages found.\n    PENDING:{}\n    UN_RES: No bad pages found.\n",
      pending);
}

std::string amd_smi_throttle(const std::string& thermal) {
  return fmt::format(
      "GPU: 0\n    USAGE:\n        GFX_ACTIVITY: 96 %\n    THROTTLE:\n"
      "        PPT_VIOLATION_STATUS: ACTIVE\n        SOCKET_THERMAL_VIOLATION_STATUS: {}\n",
      thermal);
}

std::string amd_smi_heat(int hotspot) {
  return fmt::format(
      "GPU: 0\n    TEMPERATURE:\n        EDGE: N/A\n        HOTSPOT: {} °C\n        MEM: 63 °C\n",
      hotspot);
}

std::string amd_smi_nic(const std::string& link, const std::string& state) {
  return fmt::format(
      "NIC: 0\n    NIC:\n        PORTS:\n            PORT_0:\n                NETDEV: enp7s0\n"
      "                CARRIER: 1\n                LINK_STATE: {}\n        RDMA_DEVICES:\n"
      "            RDMA_DEVICE_0:\n                NAME: rocep7s0\n                PORT_0:\n"
      "                    NETDEV: enp7s0\n                    PORT_NUM: 1\n"
      "                    STATE: {}\n",
      link, state);
}

std::string amd_smi_links(char state) {
  return fmt::format(
      "GPU LINK PORT STATUS:\n       bdf           port_num\nGPU0   0000:0c:00.0  U  U  X\n"
      "GPU1   0000:22:00.0  U  {}  X\n",
      state);
}

std::string amd_smi_summary(int errors) {
  return fmt::format(
      "| BDF                        GPU-Name | Mem-Uti   Temp   UEC       Power-Usage |\n"
      "| GPU  HIP-ID  OAM-ID  Partition-Mode | GFX-Uti    Fan               Mem-Usage |\n"
      "|=====================================+========================================|\n"
      "| 0000:05:00.0    AMD Instinct MI300X | 0 %      38 °C   {}           140/750 W |\n"
      "|   0       0       7        SPX/NPS1 | 0 %        N/A           285/196592 MB |\n",
      errors);
}

std::string rocm_smi_errors(int uncorrectable) {
  return fmt::format(
      "GPU[4]: \tRAS INFO\n"
      "         Block       Status    Correctable Error  Uncorrectable Error  \n"
      "           UMC      ENABLED                    6                    {}  \n"
      "           GFX      ENABLED                    0                    0  \n",
      uncorrectable);
}

std::string rocm_smi_links(const std::string& count) {
  return fmt::format(
      "GPU[0]\t\t: XGMI Error count: 0 (No errors detected since last read)\n"
      "GPU[1]\t\t: XGMI Error count: {}\n",
      count);
}

std::string pfcwd(const std::string& status, const std::string& counts) {
  return fmt::format(
      "      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP\n"
      "-----------  -----------  -------------------------  ------------  ------------\n"
      "Ethernet8:3  {:>11}  {:>25}      812/4400        91/0\n",
      status, counts);
}

std::string unit(const std::string& state) {
  return fmt::format(
      "● slurmd.service - Slurm node daemon\n   Loaded: loaded (/lib/slurmd.service; enabled)\n"
      "   Active: {} since Thu 2026-03-05 02:47:10 UTC; 4s ago\n Main PID: 1591\n",
      state);
}

std::string smart(const std::string& health, const std::string& failed) {
  return fmt::format(
      "=== START OF READ SMART DATA SECTION ===\n"
      "SMART overall-health self-assessment test result: {}\n\n"
      "ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW\n"
      "  5 Reallocated_Sector_Ct   0x0033   001   001   005    Pre-fail  Always   {} 1736\n",
      health, failed);
}

TEST(LoneTools, AWarmDiskIsNoDiskThatFails) {
  std::string warm = smart("PASSED", "FAILING_NOW");
  for (const auto& [from, to] :
       {std::pair{"Reallocated_Sector_Ct", "Airflow_Temperature_C"}, {"Pre-fail", "Old_age "}})
    warm.replace(warm.find(from), std::string(from).size(), to);
  EXPECT_EQ(answer_to({{"smart.txt", warm}}).first, "");
}

TEST(LoneTools, AServiceThatNoJobNeedsIsNotAccused) {
  std::string status = unit("failed (Result: exit-code)");
  status.replace(status.find("slurmd"), 6, "fwupd-refresh");
  EXPECT_EQ(answer_to({{"status.txt", status}}).first, "");
}

std::string switch_port(const std::string& reason) {
  return fmt::format(
      "Name       Description  Oper  Reason  AutoNeg  Speed   MTU   Alternate Name\n"
      "Ethernet1  PC1 gpu-7    down  {}      off      100000  9036  Eth1/2\n",
      reason);
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
      {"a service that does not run",
       {{"status.txt", unit("failed (Result: exit-code)")}},
       "host.service_failed",
       {{"status.txt", unit("active (running)")}}},
      {"a service that fails again and again",
       {{"status.txt", unit("activating (auto-restart) (Result: exit-code)")}},
       "host.service_failed",
       {{"status.txt", unit("activating (auto-restart)")}}},
      {"a disk by its own word",
       {{"smart.txt", smart("FAILED!", "-")}},
       "host.storage_stall",
       {{"smart.txt", smart("PASSED", "-")}}},
      {"an attribute of a disk",
       {{"smart.txt", smart("PASSED", "FAILING_NOW")}},
       "host.storage_stall",
       {{"smart.txt", smart("PASSED", "In_the_past")}}},
      {"one disk of two",
       {{"smart.txt", smart("FAILED!", "-") + smart("PASSED", "-")}},
       "host.storage_stall",
       {{"smart.txt", smart("PASSED", "-") + smart("PASSED", "-")}}},
      {"one disk of two by their commands",
       {{"smart.txt", smart("FAILED!", "-") + "[root@gpu-7 ~]# smartctl -H -A /dev/sdb\n" +
                          smart("PASSED", "-")}},
       "host.storage_stall",
       {{"smart.txt", smart("PASSED", "-") + "[root@gpu-7 ~]# smartctl -H -A /dev/sdb\n" +
                          smart("PASSED", "-")}}},
      {"a port that its switch took down",
       {{"switch.txt", switch_port("err-disabled")}},
       "network.link_down",
       {{"switch.txt", switch_port("admin-down")}}},
      {"two MTUs",
       {{"node-1.txt", ip_link(9000)}, {"node-2.txt", ip_link(1500)}},
       "network.mtu_mismatch",
       {{"node-1.txt", ip_link(9000)}, {"node-2.txt", ip_link(9000)}}},
      {"memory errors that amd-smi counts",
       {{"amd-smi.txt", amd_smi_ecc(2)}},
       "gpu.ecc_uncorrectable",
       {{"amd-smi.txt", amd_smi_ecc(0)}}},
      {"a link of an AMD GPU that is narrow",
       {{"amd-smi.txt", amd_smi_width(4)}},
       "pcie.degraded",
       {{"amd-smi.txt", amd_smi_width(16)}}},
      {"bad pages that wait for a reset",
       {{"amd-smi.txt", amd_smi_pages("\n        PAGE_ADDRESS: 0x2c4470000\n"
                                      "        PAGE_SIZE: 4096\n        STATUS: PENDING")}},
       "gpu.row_remap",
       {{"amd-smi.txt", amd_smi_pages(" No bad pages found.")}}},
      {"an AMD GPU that heat slows down; at its power limit it works as it should",
       {{"amd-smi.txt", amd_smi_throttle("ACTIVE")}},
       "gpu.thermal",
       {{"amd-smi.txt", amd_smi_throttle("NOT ACTIVE")}}},
      {"a NIC that amd-smi calls down",
       {{"amd-smi.txt", amd_smi_nic("down", "DOWN")}},
       "network.link_down",
       {{"amd-smi.txt", amd_smi_nic("up", "ACTIVE")}}},
      {"an XGMI link that is down; one that is not used is disabled",
       {{"amd-smi.txt", amd_smi_links('D')}},
       "gpu.nvlink_error",
       {{"amd-smi.txt", amd_smi_links('U')}}},
      {"memory errors in amd-smi's summary",
       {{"amd-smi.txt", amd_smi_summary(7)}},
       "gpu.ecc_uncorrectable",
       {{"amd-smi.txt", amd_smi_summary(0)}}},
      {"memory errors that rocm-smi counts",
       {{"rocm-smi.txt", rocm_smi_errors(3)}},
       "gpu.ecc_uncorrectable",
       {{"rocm-smi.txt", rocm_smi_errors(0)}}},
      {"errors of XGMI links that rocm-smi counts",
       {{"rocm-smi.txt", rocm_smi_links("2 (Multiple errors detected since last read)")}},
       "gpu.nvlink_error",
       {{"rocm-smi.txt", rocm_smi_links("0 (No errors detected since last read)")}}},
      {"an AMD GPU at the temperature that it slows down for",
       {{"amd-smi.txt", amd_smi_heat(107)}},
       "gpu.thermal",
       {{"amd-smi.txt", amd_smi_heat(74)}}},
      {"a PFC storm",
       {{"switch.txt", pfcwd("stormed", "1/0")}},
       "network.congestion",
       {{"switch.txt", pfcwd("operational", "0/0")}}},
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

TEST(LoneTools, APfcStormThatIsOverIsLessThanOneThatGoesOn) {
  const Answer over = answer_to({{"switch.txt", pfcwd("operational", "2/2")}});
  EXPECT_EQ(over.first, "network.congestion");
  EXPECT_LT(over.confidence, answer_to({{"switch.txt", pfcwd("stormed", "2/1")}}).confidence - 0.2);
}

// An excerpt that begins below the head of its GPU or NIC.
TEST(LoneTools, SectionsOfAmdSmiAreReadWithoutTheirHeads) {
  const std::string gpu = amd_smi_ecc(2);
  EXPECT_EQ(answer_to({{"amd-smi.txt", gpu.substr(gpu.find("    ECC:"))}}).first,
            "gpu.ecc_uncorrectable");
  EXPECT_EQ(answer_to({{"amd-smi.txt", gpu.substr(gpu.find("            CORR"))}}).first,
            "gpu.ecc_uncorrectable");
  const std::string nic = amd_smi_nic("down", "DOWN");
  EXPECT_EQ(answer_to({{"amd-smi.txt", nic.substr(nic.find("                CARRIER"))}}).first,
            "network.link_down");
}

// NVIDIA's tools do not work on an AMD GPU.
TEST(LoneTools, AdviceForAnAmdGpuIsOfAmdsTools) {
  for (const std::string& text :
       {amd_smi_ecc(2), amd_smi_width(4), amd_smi_links('D'), amd_smi_throttle("ACTIVE")}) {
    Workshop workshop;
    workshop.write("pasted/amd-smi.txt", text);
    const Diagnosis diagnosis = diagnosis_of(workshop.folder() / "pasted");
    ASSERT_FALSE(diagnosis.root_causes.empty());
    for (const Action& action : diagnosis.root_causes.front().actions)
      EXPECT_EQ(action.command.find("nvidia"), std::string::npos) << action.command;
  }
}

TEST(LoneTools, APortThatIsDownBesideOnesThatAreUpMayBeUnused) {
  const std::string up = ibstat("Active", "LinkUp");
  std::string down = ibstat("Down", "Disabled");
  down.replace(down.find("mlx5_2"), 6, "mlx5_3");
  down.replace(down.find("b1c4"), 4, "b1c8");
  EXPECT_EQ(answer_to({{"ibstat.txt", up + down}}).first, "");

  // An observation shows the user that the text was read.
  for (const std::string& text :
       {up + down,
        std::string("link mlx5_2/1 state ACTIVE physical_state LINK_UP netdev ens1f0\n"
                    "link mlx5_3/1 state DOWN physical_state DISABLED netdev ens1f1\n")}) {
    Workshop workshop;
    workshop.write("pasted/ports.txt", text);
    const Diagnosis diagnosis = diagnosis_of(workshop.folder() / "pasted");
    EXPECT_TRUE(diagnosis.root_causes.empty());
    ASSERT_EQ(diagnosis.observations.size(), 1U) << text;
    EXPECT_EQ(diagnosis.observations[0].cause, Cause::network_link_down);
    EXPECT_NE(diagnosis.observations[0].title.find("mlx5_3:1 of an unknown host is not up"),
              std::string::npos)
        << diagnosis.observations[0].title;
  }
}

TEST(LoneTools, APortThatIsOffBesideOneThatTriesMayBeUnused) {
  std::string off = ibstat("Down", "Disabled");
  off.replace(off.find("mlx5_2"), 6, "mlx5_3");
  off.replace(off.find("b1c4"), 4, "b1c8");
  Workshop workshop;
  workshop.write("pasted/ports.txt", ibstat("Down", "Polling") + off);
  const Diagnosis diagnosis = diagnosis_of(workshop.folder() / "pasted");
  ASSERT_EQ(diagnosis.root_causes.size(), 1U);
  EXPECT_NE(diagnosis.root_causes[0].title.find("mlx5_2:1"), std::string::npos);
  EXPECT_EQ(answer_to({{"ibstat.txt", off}}).first, "network.link_down") << "alone";
}

// A port of Ethernet also says that it is disabled if nothing is plugged in.
TEST(LoneTools, OnlyAPortOfInfiniBandWasSwitchedOffIfItIsDisabled) {
  const std::string off = ibstat("Down", "Disabled");
  std::string ethernet = off;
  ethernet.replace(ethernet.find("InfiniBand"), 10, "Ethernet");
  for (const std::string& text : {off, ethernet}) {
    Workshop workshop;
    workshop.write("pasted/port.txt", text);
    const Diagnosis diagnosis = diagnosis_of(workshop.folder() / "pasted");
    ASSERT_EQ(diagnosis.root_causes.size(), 1U) << text;
    EXPECT_EQ(diagnosis.root_causes[0].title.find("switched off") != std::string::npos, text == off)
        << diagnosis.root_causes[0].title;
  }
}

std::string ibportstate(const std::string& head, const std::string& state,
                        const std::string& physical) {
  return fmt::format(
      "{} PortInfo:\n# Port info: Lid 6 port 1\nLinkState:.......................{}\n"
      "PhysLinkState:...................{}\nLid:.............................6\n"
      "LinkWidthActive:.................4X\nLinkSpeedActive:.................10.0 Gbps\n",
      head, state, physical);
}

// Nobody asks for the state of a single port without a reason.
TEST(LoneTools, APortThatWasAskedForAndIsDownIsNamed) {
  for (const char* head : {"CA", "CA/RT", "Initial CA/RT", "Switch", "Initial Switch"}) {
    const Answer down = answer_to({{"port.txt", ibportstate(head, "Down", "Polling")}});
    EXPECT_EQ(down.first, "network.link_down") << head;
    EXPECT_LT(down.confidence, 0.8);
    EXPECT_EQ(answer_to({{"port.txt", ibportstate(head, "Active", "LinkUp")}}).first, "") << head;
  }
}

TEST(LoneTools, PortsThatWereAllGoneThroughAreNotAskedAbout) {
  std::string sweep = ibportstate("Switch", "Active", "LinkUp");
  for (const int port : {2, 3, 4}) {
    std::string next = ibportstate("Switch", "Down", "Polling");
    sweep += next.replace(next.find("port 1"), 6, fmt::format("port {}", port));
  }
  EXPECT_EQ(answer_to({{"ports.txt", sweep}}).first, "");
}

TEST(LoneTools, APortThatIbportstateHasSwitchedOffIsAsItWasLeft) {
  const Answer off =
      answer_to({{"port.txt", ibportstate("Initial CA/RT", "Active", "LinkUp") +
                                  "\nAfter PortInfo set:\n# Port info: Lid 6 port 1\n"
                                  "LinkState:.......................Down\n"
                                  "PhysLinkState:...................Disabled\n"}});
  EXPECT_EQ(off.first, "network.link_down");
}

// An AMD GPU that fails in the first minutes has failed, too.
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

// "mount.nfs" also occurs in what PyTorch programs say about file systems.
TEST(LoneTools, AHungTaskWithoutAStampIsTheKernelsWhateverItsName) {
  for (const char* task : {"mount.nfs", "python3", "mount.lustre"})
    EXPECT_EQ(cause_of(pasted(
                  fmt::format("INFO: task {}:11252 blocked for more than 120 seconds.\n", task))),
              "host.cpu_hang")
        << task;
  EXPECT_EQ(cause_of(pasted("mount.nfs: Connection timed out\n")), "host.storage_stall");
}

// The driver does not always say which GPU it means.
TEST(LoneTools, AnAmdgpuLineWithoutAnAddressIsOfTheGpuThatTheNextLinesName) {
  const std::string hang =
      "[  812.100000] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring sdma1 timeout, signaled "
      "seq=901, emitted seq=903\n";
  const auto reset = [](const char* address) {
    return fmt::format("[  812.600000] amdgpu {}: amdgpu: GPU reset begin!\n", address);
  };
  const auto told = [&](const std::string& text) {
    const Diagnosis diagnosis = pasted(text);
    std::string all;
    for (const Finding& finding : diagnosis.root_causes) all += finding.title + '\n';
    return all;
  };
  EXPECT_THAT(
      told(hang + reset("0000:1c:00.0")),
      testing::StartsWith("GPU 0000:1c:00.0 on a host that no line names did not finish its "
                          "work on ring sdma1"));
  EXPECT_THAT(told(hang + reset("0000:1c:00.0") + reset("0000:9d:00.0")),
              testing::StartsWith("A GPU on a host that no line names did not finish"));
  EXPECT_THAT(told(hang), testing::StartsWith("A GPU on a host that no line names did not finish"));
}

TEST(LoneTools, ALineOfTheKernelThatWasCutOutOfASyslogNamesNoHost) {
  const std::string rest = "): 79, pid=4021, name=python3, GPU has fallen off the bus.\n";
  const Diagnosis diagnosis = pasted("kernel: NVRM: Xid (PCI:0000:3b:00" + rest +
                                     "kernel: NVRM: Xid (PCI:0000:5e:00" + rest);
  ASSERT_FALSE(diagnosis.root_causes.empty());
  for (const Finding& cause : diagnosis.root_causes)
    EXPECT_THAT(cause.title, testing::HasSubstr("on a host that no line names"));
}

}  // namespace
}  // namespace faultline
