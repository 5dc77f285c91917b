#include "rules/knowledge/counters_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/knowledge/catalog.h"
#include "rules/knowledge/catalog_files.h"

namespace faultline {
namespace {

const CountersCatalog& counters() {
  static const Catalog catalog = load_catalog();
  return *catalog.counters;
}

std::string name_of(std::string_view spelling) {
  const CounterMeaning* counter = counters().find(spelling);
  return counter == nullptr ? "unknown" : counter->name;
}

struct Spellings {
  const char* name;
  const char* of;
  std::vector<const char*> also;
};

TEST(Counters, AreRecognisedUnderEachOfTheirSpellings) {
  const Spellings cases[] = {
      {"SymbolErrorCounter",
       "physical",
       {"SymbolErrors", "symbol_error", "Symbol Errors", "SymbolErrorCounterExtended",
        "node_infiniband_symbol_error_total"}},
      {"LinkErrorRecoveryCounter",
       "physical",
       {"LinkRecovers", "link_error_recovery", "Link Error Recovery",
        "Link Error Recovery Counter"}},
      {"LinkDownedCounter",
       "link_down",
       {"LinkDowned", "link_downed", "Link Error Downed", "LinkDownedCounterExtended",
        "Link Down Counter", "node_infiniband_link_downed_total"}},
      {"PortRcvErrors", "physical", {"RcvErrors", "port_rcv_errors", "Port Rcv Errors"}},
      {"PortRcvRemotePhysicalErrors",
       "physical_elsewhere",
       {"RcvRemotePhysErrors", "port_rcv_remote_physical_errors"}},
      {"PortRcvSwitchRelayErrors", "benign", {"RcvSwRelayErrors", "port_rcv_switch_relay_errors"}},
      {"PortXmitDiscards",
       "congestion",
       {"XmtDiscards", "port_xmit_discards", "Port Xmit Discards"}},
      {"PortXmitConstraintErrors",
       "partition",
       {"XmtConstraintErrors", "port_xmit_constraint_errors"}},
      {"PortRcvConstraintErrors",
       "partition",
       {"RcvConstraintErrors", "port_rcv_constraint_errors"}},
      {"LocalLinkIntegrityErrors",
       "physical",
       {"LinkIntegrityErrors", "local_link_integrity_errors", "Local Integrity Error"}},
      {"ExcessiveBufferOverrunErrors",
       "benign",
       {"ExcBufOverrunErrors", "excessive_buffer_overrun_errors"}},
      {"VL15Dropped", "management", {"VL15_dropped", "vl15_dropped"}},
      {"QP1Dropped", "management", {}},
      {"PortXmitWait",
       "congestion",
       {"XmtWait", "port_xmit_wait", "Port Xmit Wait", "Congestion Xmit Wait"}},
      {"PortInactiveDiscards", "benign", {}},
      {"PortNeighborMTUDiscards", "mtu", {}},
      {"PortSwLifetimeLimitDiscards", "congestion", {}},
      {"PortSwHOQLifetimeLimitDiscards", "congestion", {}},
      {"PortLocalPhysicalErrors", "physical", {}},
      {"PortMalformedPktErrors", "benign", {}},
      {"PortBufferOverrunErrors", "benign", {}},
      {"PortDLIDMappingErrors", "routing", {}},
      {"PortVLMappingErrors", "routing", {}},
      {"PortLoopingErrors", "routing", {}},
      {"SyncHeaderErrorCounter", "physical", {}},
      {"UnknownBlockCounter", "physical", {}},
      {"FECCorrectableSymbolCtrLane#",
       "benign",
       {"FECCorrectableSymbolCtrLane0", "FECCorrectableSymbolCtrLane11"}},
      {"PortFECCorrectableBlockCtr", "benign", {}},
      {"PortFECCorrectedSymbolCtr", "benign", {}},
      {"PortFECUncorrectableBlockCtr", "physical", {}},
      {"FECUncorrectableBlockCtrLane#", "physical", {"FECUncorrectableBlockCtrLane7"}},
      {"ErrorDetectionCounterLane#", "benign", {"ErrorDetectionCounterLane3"}},
      {"PortXmitData", "activity", {"XmtData", "XmtBytes", "port_xmit_data", "port_xmit_data_64"}},
      {"PortRcvData", "activity", {"RcvData", "RcvBytes", "port_rcv_data", "port_rcv_data_64"}},
      {"PortXmitPkts", "activity", {"XmtPkts", "port_xmit_packets"}},
      {"PortRcvPkts", "activity", {"RcvPkts", "port_rcv_packets"}},
      {"PortUnicastXmitPkts", "activity", {"unicast_xmit_packets"}},
      {"PortMulticastRcvPkts", "activity", {"multicast_rcv_packets"}},
      {"out_of_buffer", "receiver", {"vport_out_of_buffer"}},
      {"out_of_sequence", "loss", {}},
      {"duplicate_request", "loss", {"dup_req"}},
      {"rnr_nak_retry_err", "receiver", {"rnr_naks_rcvd"}},
      {"packet_seq_err", "loss", {"seq_err_naks_rcvd"}},
      {"implied_nak_seq_err", "loss", {}},
      {"local_ack_timeout_err", "peer", {"to_retransmits"}},
      {"req_transport_retries_exceeded", "peer", {"max_retry_exceeded"}},
      {"req_rnr_retries_exceeded", "receiver", {}},
      {"resp_local_length_error", "application", {}},
      {"req_cqe_error", "application", {}},
      {"resp_cqe_error", "application", {}},
      {"req_cqe_flush_error", "benign", {}},
      {"resp_cqe_flush_error", "benign", {}},
      {"req_remote_invalid_request", "application", {}},
      {"req_remote_access_errors", "application", {}},
      {"resp_remote_access_errors", "application", {}},
      {"roce_adp_retrans", "loss", {}},
      {"roce_adp_retrans_to", "loss", {}},
      {"roce_slow_restart", "benign", {}},
      {"roce_slow_restart_cnps", "benign", {}},
      {"roce_slow_restart_trans", "benign", {}},
      {"np_ecn_marked_roce_packets", "activity", {}},
      {"np_cnp_sent", "activity", {}},
      {"rp_cnp_handled", "activity", {}},
      {"rp_cnp_ignored", "activity", {}},
      {"rx_icrc_encapsulated", "physical", {}},
      {"cc_rx_ce_pkts", "activity", {}},
      {"rx_write_requests", "activity", {}},
      {"lifespan", "ignored", {}},
      {"retrans_timeout_events", "peer", {}},
      {"impaired_remote_conn_events", "loss", {}},
      {"rx_drops", "receiver", {}},
      {"oos_drop_count", "loss", {}},
      {"rx_discards_phy", "congestion", {}},
      {"rx_prio#_pause", "activity", {"rx_prio3_pause"}},
      {"rx_prio#_pause_duration",
       "congestion",
       {"rx_prio3_pause_duration", "pfc_pri0_rx_duration_us"}},
      {"tx_prio#_pause_duration", "pause", {"tx_prio0_pause_duration"}},
      {"tx_pause_storm_error_events", "pause", {}},
      {"rx_prio#_cong_discard", "congestion", {"rx_prio5_cong_discard"}},
      {"rx_crc_errors_phy", "physical", {"rx_fcs_err_frames"}},
      {"rx_pcs_symbol_err_phy", "physical", {}},
      {"rx_err_lane_#_phy", "benign", {"rx_err_lane_0_phy"}},
      {"link_down_events_phy", "link_down", {"link_down_events"}},
      {"module_high_temp", "module", {}},
      {"rx_oversize_pkts_phy", "mtu", {}},
      {"rx_pci_signal_integrity", "pcie", {}},
      {"outbound_pci_stalled_wr", "receiver", {}},
      {"Effective Physical Errors", "physical", {}},
      {"Recovery Errors", "nvlink", {"Recovery Error"}},
      {"CRC Errors", "nvlink", {"CRC Data Error"}},
      {"FEC Errors - #", "benign", {"FEC Errors - 3"}},
  };
  for (const Spellings& one : cases) {
    const CounterMeaning* counter = counters().find(one.name);
    ASSERT_NE(counter, nullptr) << one.name;
    EXPECT_EQ(counter->name, one.name);
    EXPECT_EQ(counter->of->name, one.of) << one.name;
    EXPECT_FALSE(counter->means.empty()) << one.name;
    for (const char* spelling : one.also) EXPECT_EQ(name_of(spelling), one.name) << spelling;
  }
}

TEST(Counters, OfOtherNamesAreUnknown) {
  for (const char* name : {"", "PortSelect", "State", "symbol", "lane", "CounterSelect2"})
    EXPECT_EQ(name_of(name), "unknown") << name;
}

TEST(Counters, AreAsWideAsTheToolReadsThem) {
  struct Case {
    const char* name;
    const char* tool;
    std::uint64_t most;
    bool saturates;
    bool wraps;
  };
  const std::uint64_t whole = ~std::uint64_t{0};
  const Case cases[] = {
      {"SymbolErrorCounter", "perfquery", 65535, true, false},
      {"SymbolErrorCounter", "perfquery_extended", whole, false, false},
      {"symbol_error", "sysfs", 65535, true, false},
      {"LinkDownedCounter", "perfquery", 255, true, false},
      {"LocalLinkIntegrityErrors", "perfquery", 15, true, false},
      {"PortXmitData", "perfquery", 4294967295, true, false},
      {"port_xmit_data", "sysfs", whole, false, false},
      {"local_ack_timeout_err", "sysfs", 4294967295, false, true},
      {"np_cnp_sent", "rdma_statistic", whole, false, false},
  };
  for (const Case& one : cases) {
    const CounterWidth width = counters().width_of(*counters().find(one.name), one.tool);
    EXPECT_EQ(width.most, one.most) << one.name << " " << one.tool;
    EXPECT_EQ(width.saturates, one.saturates) << one.name << " " << one.tool;
    EXPECT_EQ(width.wraps, one.wraps) << one.name << " " << one.tool;
  }
}

TEST(Counters, OnlyThoseThatMayAccuseHaveAThreshold) {
  for (const CounterMeaning& counter : counters().all()) {
    const bool accuses = counter.suspect || counter.siblings > 0;
    EXPECT_TRUE(!accuses || counter.of->finding != Cause::none) << counter.name;
  }
}

std::string complaint_about(std::string_view counters_yaml) {
  const std::string head =
      "prefixes: [a_]\nsuffixes: [_b]\nover_after: 1\nclasses:\n  physical: {says: \"has "
      "errors\"}\ncounters:\n";
  try {
    read_counters("counters.yaml", head + std::string(counters_yaml));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

TEST(Counters, AWrongEntryIsRefusedWithItsMend) {
  EXPECT_EQ(complaint_about("  - {name: x, class: physical, width: 16s, means: y}\n"), "none");
  EXPECT_EQ(complaint_about("  - {name: x, class: physical, width: 16z, means: y}\n"),
            "counters.yaml:7: width \"16z\" is unknown; write 16s, 32w or 64");
  EXPECT_EQ(complaint_about("  - {name: x, class: metaphysical, width: 64, means: y}\n"),
            "counters.yaml:7: class \"metaphysical\" is not listed in classes; add it there");
  EXPECT_EQ(complaint_about("  - {name: x, class: physical, width: 64, means: y}\n"
                            "  - {name: X_, class: physical, width: 64, means: y}\n"),
            "counters.yaml:8: \"X_\" is listed already; remove one of the two");
}

}  // namespace
}  // namespace faultline
