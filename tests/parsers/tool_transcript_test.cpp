#include "parsers/tool/tool_transcript.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "parsers/tool/tool_shell.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

struct Told {
  PartReport part;
  std::string host;
  std::optional<Timestamp> time;
};

// What the documents in a text report; other lines are left alone.
std::vector<Told> told_by(std::string_view text) {
  std::vector<DocumentReading> readings;
  std::unique_ptr<Document> open;
  DocumentLine line;
  while (!text.empty()) {
    line.text = line.whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.text.size() + 1, text.size()));
    ++line.number;
    if (!open && begins_tool_transcript(line.text)) open = make_tool_transcript();
    if (!open || open->feed(line, readings) != Document::Line::after) continue;
    open->finish(readings);
    open = nullptr;
  }
  if (open) open->finish(readings);
  std::vector<Told> told;
  for (DocumentReading& reading : readings)
    told.push_back(
        {std::get<PartReport>(reading.reading.fact), reading.reading.host, reading.reading.time});
  return told;
}

std::vector<PartReport> parts_in(std::string_view text) {
  std::vector<PartReport> parts;
  for (Told& told : told_by(text)) parts.push_back(std::move(told.part));
  return parts;
}

std::string name_of(const PartReport& part, std::string_view name) {
  return std::string(value_of(part.names, name));
}

std::vector<std::string> value_names(const PartReport& part) {
  std::vector<std::string> names;
  for (const NamedValue& value : part.values) names.push_back(value.name);
  return names;
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> all;
  for (const std::string_view word : words_of(text)) all.emplace_back(word);
  return all;
}

// --- counters
// -------------------------------------------------------------------------------------

struct Counters {
  std::string tool;
  std::string head;
  std::string row;  // a row with {name} and {value}
  std::string names;
};

void PrintTo(const Counters& row, std::ostream* out) { *out << row.tool << ": " << row.names; }

const std::string kPort =
    "SymbolErrorCounter LinkErrorRecoveryCounter LinkDownedCounter PortRcvErrors "
    "PortRcvRemotePhysicalErrors PortRcvSwitchRelayErrors PortXmitDiscards "
    "PortXmitConstraintErrors PortRcvConstraintErrors LocalLinkIntegrityErrors "
    "ExcessiveBufferOverrunErrors QP1Dropped VL15Dropped PortXmitData PortRcvData PortXmitPkts "
    "PortRcvPkts PortXmitWait";
const std::string kOldPort =
    "SymbolErrors LinkRecovers LinkDowned RcvErrors RcvRemotePhysErrors RcvSwRelayErrors "
    "XmtDiscards XmtConstraintErrors RcvConstraintErrors LinkIntegrityErrors ExcBufOverrunErrors "
    "VL15Dropped XmtData XmtBytes RcvData RcvBytes XmtPkts RcvPkts XmtWait";
const std::string kSpeeds =
    "SyncHeaderErrorCounter UnknownBlockCounter FECCorrectableSymbolCtrLane0 "
    "FECCorrectableSymbolCtrLane11 ErrorDetectionCounterLane3 FECUncorrectableBlockCtrLane2 "
    "PortFECCorrectableBlockCtr PortFECUncorrectableBlockCtr PortFECCorrectedSymbolCtr";
const std::string kHardware =
    "rx_write_requests rx_read_requests rx_atomic_requests rx_dct_connect out_of_buffer "
    "out_of_sequence duplicate_request rnr_nak_retry_err packet_seq_err implied_nak_seq_err "
    "local_ack_timeout_err req_transport_retries_exceeded req_rnr_retries_exceeded "
    "resp_local_length_error req_cqe_error resp_cqe_error req_cqe_flush_error resp_cqe_flush_error "
    "req_remote_invalid_request req_remote_access_errors resp_remote_access_errors "
    "roce_adp_retrans roce_adp_retrans_to roce_slow_restart roce_slow_restart_cnps "
    "roce_slow_restart_trans np_ecn_marked_roce_packets np_cnp_sent rp_cnp_handled rp_cnp_ignored "
    "rx_icrc_encapsulated";
const std::string kEfa =
    "tx_bytes rx_drops send_wrs rdma_read_wr_err retrans_timeout_events "
    "unresponsive_remote_events impaired_remote_conn_events";
const std::string kSysfs =
    "symbol_error link_error_recovery link_downed port_rcv_errors port_rcv_remote_physical_errors "
    "port_rcv_switch_relay_errors port_xmit_discards port_xmit_constraint_errors "
    "port_rcv_constraint_errors local_link_integrity_errors excessive_buffer_overrun_errors "
    "VL15_dropped port_xmit_wait port_xmit_data port_rcv_data port_xmit_packets port_rcv_packets "
    "unicast_xmit_packets unicast_rcv_packets multicast_xmit_packets multicast_rcv_packets";
const std::string kEthtool =
    "rx_out_of_buffer dev_out_of_buffer rx_discards_phy tx_discards_phy "
    "rx_buffer_passed_thres_phy rx_prio3_pause rx_prio3_pause_duration tx_prio3_pause_transition "
    "rx_global_pause tx_pause_ctrl_phy tx_pause_storm_error_events rx_prio3_buf_discard "
    "rx_crc_errors_phy rx_symbol_err_phy rx_pcs_symbol_err_phy rx_corrected_bits_phy "
    "rx_err_lane_0_phy link_down_events_phy module_unplug module_bus_stuck module_high_temp "
    "module_bad_shorted rx_oversize_pkts_phy rx_pci_signal_integrity outbound_pci_stalled_rd "
    "outbound_pci_buffer_overflow rx_if_down_packets rx_vport_rdma_unicast_bytes "
    "pfc_pri0_rx_duration_us rx_fec_uncorrectable_blocks rx_fcs_err_frames link_down_events";

class SpellingsOfCounters : public testing::TestWithParam<Counters> {};

TEST_P(SpellingsOfCounters, AreKeptAsTheToolPrintsThem) {
  const Counters& row = GetParam();
  std::string text = row.head;
  int value = 0;
  for (const std::string& name : words(row.names))
    text +=
        fmt::format(fmt::runtime(row.row), fmt::arg("name", name), fmt::arg("value", ++value),
                    fmt::arg("dots", std::string(name.size() < 32 ? 32 - name.size() : 0, '.')));
  const auto parts = parts_in(text);
  ASSERT_THAT(parts, SizeIs(1)) << text;
  EXPECT_EQ(parts[0].tool, row.tool);
  EXPECT_EQ(value_names(parts[0]), words(row.names));
  EXPECT_EQ(parts[0].values.back().value, std::to_string(value));
}

const std::string kDots = "{name}:{dots}{value}\n";
const std::string kDump = "/sys/class/infiniband/mlx5_0/ports/1/";

INSTANTIATE_TEST_SUITE_P(
    All, SpellingsOfCounters,
    testing::Values(
        Counters{"perfquery", "# Port counters: Lid 37 port 1 (CapMask: 0x5A00)\n", kDots, kPort},
        Counters{"perfquery", "# Port counters: Lid 37 port 1\n", kDots, kOldPort},
        Counters{"perfquery_extended",
                 "# Port extended counters: Lid 37 port 1 (CapMask: 0x5A00 CapMask2: 0x2)\n", kDots,
                 kPort + " PortUnicastXmitPkts PortMulticastRcvPkts"},
        Counters{"perfquery_xmit_discards", "# PortXmitDiscardDetails counters: Lid 37 port 1\n",
                 kDots,
                 "PortInactiveDiscards PortNeighborMTUDiscards PortSwLifetimeLimitDiscards "
                 "PortSwHOQLifetimeLimitDiscards"},
        Counters{"perfquery_rcv_errors", "# PortRcvErrorDetails counters: Lid 37 port 1\n", kDots,
                 "PortLocalPhysicalErrors PortMalformedPktErrors PortBufferOverrunErrors "
                 "PortDLIDMappingErrors PortVLMappingErrors PortLoopingErrors"},
        Counters{"perfquery_extended_speeds",
                 "# PortExtendedSpeedsCounters counters: Lid 37 port 1\n", kDots, kSpeeds},
        Counters{"perfquery_PortVLXmitFlowCtlUpdateErrors",
                 "# PortVLXmitFlowCtlUpdateErrors counters: Lid 37 port 1\n", kDots,
                 "PortVLXmitFlowCtlUpdateErrors0 PortVLXmitFlowCtlUpdateErrors15"},
        Counters{"ibqueryerrors",
                 "Errors for \"gpu-7 mlx5_1\"\n   GUID 0x946dae0300a1b2d3 port 1: ",
                 "[{name} == {value} (1.000)] ", kPort},
        Counters{"sysfs", "", kDump + "counters/{name}:{value}\n", kSysfs},
        Counters{"sysfs", "", kDump + "hw_counters/{name} {value}\n", kHardware},
        Counters{"sysfs", "", kDump + "hw_counters/{name}={value}\n", kEfa},
        Counters{"sysfs", "", "==> " + kDump + "counters/{name} <==\n{value}\n\n", kSysfs},
        Counters{"sysfs", "", kDump + "counters/{name}\n{value}\n", kSysfs},
        Counters{"sysfs", "", "mlx5_0/ports/1/counters/{name}: {value}\n", kSysfs},
        Counters{"sysfs", "=== mlx5_0 ===\n", "{name}: {value}\n", kSysfs},
        Counters{"sysfs", "", "mlx5_0 1 {name} {value}\n", kSysfs},
        Counters{"sysfs", "mlx5_0\n", "{name}\t{value}\n", kHardware},
        Counters{"sysfs", "", "/sys/class/net/ib0/statistics/{name}:{value}\n",
                 "rx_errors tx_dropped rx_crc_errors"},
        Counters{"rdma_statistic", "link mlx5_2/1 ", "{name} {value} ", kHardware},
        Counters{"rdma_statistic", "link mlx5_2/1 \n", "    {name} {value} \n", kHardware},
        Counters{"ethtool_statistics", "NIC statistics:\n", "     {name}: {value}\n", kEthtool}));

TEST(PartsOfTools, EveryCopyOfMlxlinkIsRead) {
  for (const std::string_view blanks : {"", "    ", "\t"}) {
    std::string text;
    for (const std::string_view line :
         {"Operational Info", "----------------", "State                           : Active",
          "Effective Physical BER          : 15E-255"})
      text += std::string(blanks) + std::string(line) + "\r\n";
    const auto parts = parts_in("$ mlxlink -d mlx5_3 -c\n\n" + text);
    ASSERT_THAT(parts, SizeIs(1));
    EXPECT_THAT(value_names(parts[0]), ElementsAre("State", "Effective Physical BER"));
    EXPECT_EQ(name_of(parts[0], "device"), "mlx5_3");
  }
}

TEST(PartsOfTools, CountersOfSingleQueuesAreLeftOut) {
  const auto parts = parts_in(
      "NIC statistics:\n     rx_packets: 7\n     rx0_packets: 3\n     tx12_bytes: 3\n"
      "     ch4_poll: 9\n     [5]: rx_ucast_packets: 1\n     rx_queue_3_drops: 2\n");
  ASSERT_THAT(parts, SizeIs(1));
  EXPECT_THAT(value_names(parts[0]), ElementsAre("rx_packets"));
}

TEST(PartsOfTools, ANumberThatIsNoneIsNoCounter) {
  EXPECT_THAT(parts_in("# Port counters: Lid 37 port 1\nSymbolErrorCounter:......12 of them\n"),
              IsEmpty());
  EXPECT_THAT(parts_in("   GUID 0x946dae0300a1b2d3 port 1: [SymbolErrorCounter == x]\n"),
              IsEmpty());
}

TEST(PartsOfTools, DetailsOfIbqueryerrorsHaveTheirRealNames) {
  const std::string head = "Errors for \"gpu-7 mlx5_1\"\n   GUID 0x1 port 1: ";
  const auto names = [&](const std::string& row) {
    return value_names(parts_in(head + row + "\n").at(0));
  };
  EXPECT_THAT(
      names("[PortXmitDiscards == 9] [PortLocalPhysicalErrors == 1] [PortMalformedPktErrors == 2] "
            "[PortBufferOverrunErrors == 3] [PortDLIDMappingErrors == 4]"),
      ElementsAre("PortXmitDiscards", "PortInactiveDiscards", "PortNeighborMTUDiscards",
                  "PortSwLifetimeLimitDiscards", "PortSwHOQLifetimeLimitDiscards"));
  EXPECT_THAT(
      names("[PortRcvErrors == 9] [PortInactiveDiscards == 1] [PortNeighborMTUDiscards == 2] "
            "[PortSwLifetimeLimitDiscards == 3] [PortSwHOQLifetimeLimitDiscards == 4]"),
      ElementsAre("PortRcvErrors", "PortLocalPhysicalErrors", "PortMalformedPktErrors",
                  "PortBufferOverrunErrors", "PortDLIDMappingErrors"));
}

// --- who said it, and when
// ------------------------------------------------------------------------

constexpr std::string_view kAdapter =
    "CA 'mlx5_0'\n\tNode GUID: 0x946dae0300a1b2c2\n\tPort 1:\n\t\tState: Active\n";

class Prompts : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(Prompts, NameTheHost) {
  const auto& [prompt, host] = GetParam();
  const auto told = told_by(prompt + "\n" + std::string(kAdapter));
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].host, host);
  EXPECT_EQ(name_of(told[0].part, "device"), "mlx5_0");
}

INSTANTIATE_TEST_SUITE_P(
    All, Prompts,
    testing::Values(std::pair("root@gpu-7:~# ibstat", "gpu-7"),
                    std::pair("[root@gpu-7 ~]# ibstat mlx5_0", "gpu-7"),
                    std::pair("(base) ops@gpu-7:/tmp/x$ sudo /usr/sbin/ibstat", "gpu-7"),
                    std::pair("gpu-7:~ # LC_ALL=C ibstat", "gpu-7"),
                    std::pair("gpu-7# ibstat", "gpu-7"), std::pair("$ ssh gpu-7 ibstat", "gpu-7"),
                    std::pair("$ ibstat", ""), std::pair("+ ibstat", ""),
                    std::pair("=== gpu-7 ===", "gpu-7"),
                    std::pair("----- host gpu-7 -----", "gpu-7"),
                    std::pair("----------------\ngpu-7\n----------------", "gpu-7"),
                    std::pair("gpu-7 | CHANGED | rc=0 >>", "gpu-7"),
                    std::pair("$ hostname\ngpu-7", "gpu-7"), std::pair("=== Phase 2 ===", ""),
                    std::pair("=== sample12 ===", "")));

TEST(ToolTranscript, LinesOfSeveralHostsMayBeMixed) {
  const auto document = make_tool_transcript();
  std::vector<DocumentReading> readings;
  constexpr std::pair<std::string_view, std::string_view> kLines[] = {
      {"gpu-7", "CA 'mlx5_0'"}, {"gpu-8", "CA 'mlx5_0'"},     {"gpu-7", "\tPort 1:"},
      {"gpu-8", "\tPort 1:"},   {"gpu-8", "\t\tState: Down"}, {"gpu-7", "\t\tState: Active"}};
  for (const auto& [host, text] : kLines) {
    DocumentLine line{text, text, 1, 0};
    line.host = host;
    document->feed(line, readings);
  }
  document->finish(readings);
  std::map<std::string, std::string> states;
  for (const DocumentReading& told : readings)
    states[told.line->host] = std::get<PartReport>(told.reading.fact).values[0].value;
  EXPECT_THAT(states, ElementsAre(Pair("gpu-7", "Active"), Pair("gpu-8", "Down")));
}

TEST(ToolTranscript, AnAnswerOfAnsibleThatRanIntoAPromptIsItsHosts) {
  const auto document = make_tool_transcript();
  std::vector<DocumentReading> readings;
  DocumentLine heading{"CHANGED | rc=0$ perfquery -x 37 1", "", 1, 0};
  heading.host = "gpu-8";
  EXPECT_EQ(document->feed(heading, readings), Document::Line::part);
  for (const char* row : {"CA 'mlx5_1'", "Port 1:", "State: Active"})
    document->feed({row, row, 2, 0}, readings);
  document->finish(readings);
  ASSERT_THAT(readings, SizeIs(1));
  EXPECT_EQ(readings[0].reading.host, "gpu-8");
}

TEST(ToolTranscript, HostsWithoutEndTakeLittleMemory) {
  const auto document = make_tool_transcript();
  std::vector<DocumentReading> readings;
  std::size_t told = 0;
  for (int host = 0; host < 5000; ++host) {
    for (const char* row : {"CA 'mlx5_0'", "Port 1:", "State: Active"}) {
      const std::string name = fmt::format("gpu-{}", host);
      DocumentLine line{row, row, 1, 0};
      line.host = name;
      line.number = static_cast<std::uint64_t>(host) + 1;
      EXPECT_EQ(document->feed(line, readings), Document::Line::part);
    }
    told += readings.size();
    readings.clear();
    ASSERT_LT(document->size(), std::size_t{400'000});
  }
  document->finish(readings);
  EXPECT_EQ(told + readings.size(), 5000U);
}

class Dates : public testing::TestWithParam<std::string> {};

TEST_P(Dates, AreTheTimeOfWhatFollows) {
  const auto told = told_by(GetParam() + "\n" + std::string(kAdapter));
  ASSERT_THAT(told, SizeIs(1));
  ASSERT_TRUE(told[0].time);
  EXPECT_EQ(to_rfc3339(*told[0].time), "2026-03-05T14:47:11Z");
}

INSTANTIATE_TEST_SUITE_P(
    All, Dates,
    testing::Values("Thu Mar  5 14:47:11 UTC 2026", "Thu Mar  5 02:47:11 PM UTC 2026",
                    "Thu 05 Mar 2026 02:47:11 PM UTC", "Thu Mar  5 14:47:11 2026",
                    "2026-03-05T14:47:11Z", "2026-03-05 14:47:11", "2026-03-05T15:47:11+01:00",
                    "=== 2026-03-05 14:47:11 ===", "# Thu Mar  5 14:47:11 UTC 2026"));

TEST(ToolTranscript, AStampOfTheLineItselfStandsBeforeADateAbove) {
  std::vector<DocumentReading> readings;
  const auto document = make_tool_transcript();
  for (const char* text : {"2026-03-05 14:47:11", "# Port counters: Lid 37 port 1",
                           "SymbolErrorCounter:..............7"}) {
    DocumentLine line{text, text, 1, 0};
    line.time = EventTime::at(*parse_rfc3339("2026-03-05T20:00:00Z"));
    document->feed(line, readings);
  }
  document->finish(readings);
  ASSERT_THAT(readings, SizeIs(1));
  EXPECT_FALSE(readings[0].reading.time);
  EXPECT_EQ(to_rfc3339(*readings[0].line->time.wall()), "2026-03-05T20:00:00Z");
}

// --- what is left to others
// -----------------------------------------------------------------------

TEST(ToolTranscript, LeavesOtherProgramsLinesAlone) {
  for (const char* text :
       {"gpu-7:4711:4799 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB ib0:10.0.0.7<0>",
        "gpu-7:4711:4799 [0] transport/net_ib.cc:94 NCCL WARN NET/IB : mlx5_0:1 Got async event",
        "[  812.512345] mlx5_core 0000:3b:00.0 ens1f0np0: Link down",
        "mlx5_core 0000:3b:00.0: mlx5_cmd_out_err:838:(pid 4711): ACCESS_REG(0x805) failed",
        "NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, name=python3, GPU has fallen off the bus.",
        "mlx5_0: Port: 1 Link ACTIVE",
        "State: Active",
        "Rate: 400",
        "epoch 3: loss 2.1",
        "Errors for the epoch: none",
        "Switch: to bf16",
        "Port 1 is closed",
        "CA certificate loaded",
        "link to the dataset: /data/0",
        "# counters reset",
        "# Training",
        "== 12 passed ==",
        "ib0: lost carrier",
        "Couldn't connect to server",
        "Thursday",
        "2026-03-05",
        "DEV mode",
        "NIC statistics",
        "symbol_error",
        "port_xmit_wait is high",
        "root@gpu-7:~# python train.py",
        "$ pip install torch",
        "Unit Test",
        "--- a/train.py",
        "Operational Information",
        "  File \"/opt/train.py\", line 83, in wrapper",
        ""})
    EXPECT_FALSE(begins_tool_transcript(text)) << text;
}

TEST(ToolTranscript, OtherLinesInItsMidstDoNotEndIt) {
  std::string text = "# Port counters: Lid 37 port 1\nSymbolErrorCounter:..............7\n";
  for (int i = 0; i < 20; ++i) text += "step 12, loss 2.1\n";
  const auto parts = parts_in(text + "LinkDownedCounter:...............1\n");
  ASSERT_THAT(parts, SizeIs(1));
  EXPECT_THAT(value_names(parts[0]), ElementsAre("SymbolErrorCounter", "LinkDownedCounter"));
}

// --- words
// ----------------------------------------------------------------------------------------

TEST(ToolWords, AGuidHasOneSpelling) {
  for (const char* guid :
       {"0x946dae0300a1b2c2", "0x946DAE0300A1B2C2", "946dae0300a1b2c2", "946d:ae03:00a1:b2c2"})
    EXPECT_EQ(canonical_guid(guid), "0x946dae0300a1b2c2");
  EXPECT_EQ(canonical_guid("0x200002"), "0x0000000000200002");
  for (const char* none : {"", "0x", "0x0", "200002", "mlx5_0", "0x946dae0300a1b2c2f",
                           "fe80:0000:0000:0000:946d:ae03:00a1:b2c2"})
    EXPECT_EQ(canonical_guid(none), "") << none;
}

TEST(ToolWords, ALidThatIsNotAssignedIsNoName) {
  EXPECT_EQ(assigned_lid("37"), "37");
  EXPECT_EQ(assigned_lid("0x25"), "37");
  for (const char* none : {"0", "65535", "0xffff", "0x0", "", "x", "37,", "99999999999"})
    EXPECT_EQ(assigned_lid(none), "") << none;
}

TEST(ToolWords, ANodesNameTellsItsHost) {
  const auto names_of = [](std::string_view description) {
    std::vector<NamedValue> names;
    add_node_names(names, description);
    return names;
  };
  EXPECT_THAT(names_of("gpu-7 mlx5_1"),
              ElementsAre(NamedValue{"node", "gpu-7 mlx5_1"}, NamedValue{"host", "gpu-7"},
                          NamedValue{"device", "mlx5_1"}));
  EXPECT_THAT(names_of("gpu-7 HCA-2"),
              ElementsAre(NamedValue{"node", "gpu-7 HCA-2"}, NamedValue{"host", "gpu-7"}));
  for (const char* other :
       {"MF0;leaf01:MQM9700/U1", "Mellanox Technologies Aggregation Node", "SwitchX - M"})
    EXPECT_THAT(names_of(other), ElementsAre(NamedValue{"node", other}));
}

}  // namespace
}  // namespace faultline
