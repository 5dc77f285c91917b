#include "simulate/tool_reports.h"

#include <fmt/format.h>

#include <iterator>

#include "simulate/calendar.h"

namespace faultline::simulation {
namespace {

template <class Value>
void row(std::string& out, int indent, std::string_view key, const Value& value) {
  fmt::format_to(std::back_inserter(out), "{:{}}{:<{}}: {}\n", "", indent, key, 42 - indent, value);
}

void head(std::string& out, int indent, std::string_view text) {
  fmt::format_to(std::back_inserter(out), "{:{}}{}\n", "", indent, text);
}

// perfquery fills with dots up to column 34.
void dotted(std::string& out, std::string_view name, std::string_view value) {
  fmt::format_to(std::back_inserter(out), "{:.<33}{}\n", fmt::format("{}:", name), value);
}

void describe(std::string& out, const GpuReport& gpu) {
  const auto active = [](bool is) { return is ? "Active" : "Not Active"; };
  head(out, 0, "GPU 0000" + gpu.pci);
  row(out, 4, "Product Name", "NVIDIA H100 80GB HBM3");
  row(out, 4, "Persistence Mode", "Enabled");
  row(out, 4, "GPU Recovery Action", "None");
  head(out, 4, "PCI");
  row(out, 8, "Bus Id", "0000" + gpu.pci);
  head(out, 8, "GPU Link Info");
  head(out, 12, "PCIe Generation");
  row(out, 16, "Max", 5);
  row(out, 16, "Current", gpu.link_generation);
  head(out, 12, "Link Width");
  row(out, 16, "Max", "16x");
  row(out, 16, "Current", fmt::format("{}x", gpu.link_width));
  row(out, 8, "Replays Since Reset", 0);
  row(out, 4, "Performance State", gpu.utilization > 0 ? "P0" : "P8");
  head(out, 4, "Clocks Event Reasons");
  row(out, 8, "Idle", active(gpu.utilization == 0));
  row(out, 8, "SW Power Cap", active(gpu.power_cap));
  row(out, 8, "HW Slowdown", active(gpu.thermal_slowdown));
  row(out, 12, "HW Thermal Slowdown", active(gpu.thermal_slowdown));
  row(out, 12, "HW Power Brake Slowdown", active(false));
  row(out, 8, "SW Thermal Slowdown", active(false));
  head(out, 4, "Utilization");
  row(out, 8, "Gpu", fmt::format("{} %", gpu.utilization));
  row(out, 8, "Memory", fmt::format("{} %", gpu.utilization / 2));
  head(out, 4, "ECC Errors");
  head(out, 8, "Volatile");
  row(out, 12, "DRAM Correctable", 3);
  row(out, 12, "DRAM Uncorrectable", gpu.uncorrectable);
  head(out, 4, "Remapped Rows");
  row(out, 8, "Correctable Error", 0);
  row(out, 8, "Uncorrectable Error", gpu.remap_pending ? 1 : 0);
  row(out, 8, "Pending", gpu.remap_pending ? "Yes" : "No");
  row(out, 8, "Remapping Failure Occurred", "No");
  head(out, 4, "Temperature");
  row(out, 8, "GPU Current Temp", fmt::format("{} C", gpu.temperature));
  head(out, 4, "Fabric");
  row(out, 8, "State", "Completed");
  row(out, 8, "Status", "Success");
}

std::uint64_t guid(int host, int nic) {
  return 0x946dae0300a00000 + static_cast<std::uint64_t>(host) * 0x100 +
         static_cast<std::uint64_t>(nic) * 0x10;
}

}  // namespace

std::string stamped(std::string_view text, Timestamp when) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    fmt::format_to(std::back_inserter(out), "{} {}\n", nanosecond_stamp(when), text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

std::string nvidia_smi_q(Timestamp when, const std::vector<GpuReport>& gpus) {
  std::string out = "\n==============NVSMI LOG==============\n\n";
  row(out, 0, "Timestamp", ctime_stamp(when));
  row(out, 0, "Driver Version", "580.95.05");
  row(out, 0, "CUDA Version", "13.0");
  out += '\n';
  row(out, 0, "Attached GPUs", gpus.size());
  for (const GpuReport& gpu : gpus) describe(out, gpu);
  return out;
}

int lid_of(int host, int nic) { return 37 + 16 * host + nic; }

std::string ibstat(const Cluster& cluster, int host, int down) {
  std::string out;
  for (int nic = 0; nic < cluster.nics_per_host(); ++nic) {
    const bool up = nic != down;
    fmt::format_to(
        std::back_inserter(out),
        "CA '{}'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tFirmware version: 28.39.1002\n"
        "\tHardware version: 0\n\tNode GUID: 0x{:016x}\n\tSystem image GUID: 0x{:016x}\n"
        "\tPort 1:\n\t\tState: {}\n\t\tPhysical state: {}\n\t\tRate: {}\n\t\tBase lid: {}\n"
        "\t\tLMC: 0\n\t\tSM lid: {}\n\t\tCapability mask: 0xa651e848\n\t\tPort GUID: 0x{:016x}\n"
        "\t\tLink layer: InfiniBand\n",
        Cluster::nic_name(nic), guid(host, nic), guid(host, nic), up ? "Active" : "Down",
        up ? "LinkUp" : "Polling", up ? 400 : 10, up ? lid_of(host, nic) : 65535, up ? 5 : 0,
        guid(host, nic));
  }
  return out;
}

std::string perfquery(int lid, const PortCounters& counters) {
  std::string out = fmt::format(
      "# Port extended counters: Lid {} port 1 (CapMask: 0x5A00 CapMask2: 0x0000002)\n", lid);
  const auto number = [&](std::string_view name, std::uint64_t value) {
    dotted(out, name, std::to_string(value));
  };
  number("PortSelect", 1);
  dotted(out, "CounterSelect", "0x0000");
  number("PortXmitData", counters.words);
  number("PortRcvData", counters.words - counters.words / 97);
  number("PortXmitPkts", counters.words / 253);
  number("PortRcvPkts", counters.words / 254);
  dotted(out, "CounterSelect2", "0x00000000");
  number("SymbolErrorCounter", counters.symbol_errors);
  number("LinkErrorRecoveryCounter", counters.recoveries);
  number("LinkDownedCounter", counters.downed);
  number("PortRcvErrors", counters.receive_errors);
  number("PortRcvRemotePhysicalErrors", 0);
  number("PortRcvSwitchRelayErrors", 0);
  number("PortXmitDiscards", counters.discards);
  number("PortXmitConstraintErrors", 0);
  number("PortRcvConstraintErrors", 0);
  number("LocalLinkIntegrityErrors", 0);
  number("ExcessiveBufferOverrunErrors", 0);
  number("VL15Dropped", 0);
  number("PortXmitWait", counters.wait);
  number("QP1Dropped", 0);
  return out;
}

std::string ethtool_statistics(const PortCounters& counters) {
  std::string out = "NIC statistics:\n";
  const auto number = [&](std::string_view name, std::uint64_t value) {
    fmt::format_to(std::back_inserter(out), "     {}: {}\n", name, value);
  };
  number("rx_packets", counters.words / 254);
  number("tx_packets", counters.words / 253);
  number("rx_out_of_buffer", 0);
  number("rx_discards_phy", 0);
  number("tx_discards_phy", counters.discards);
  number("rx_crc_errors_phy", counters.receive_errors);
  number("rx_symbol_err_phy", counters.symbol_errors);
  number("rx_prio3_pause_duration", counters.wait);
  number("link_down_events_phy", counters.downed);
  return out;
}

std::string interface_of(int nic) { return fmt::format("ens{}f0np0", nic + 1); }

std::string rdma_link(const Cluster& cluster) {
  std::string out;
  for (int nic = 0; nic < cluster.nics_per_host(); ++nic)
    fmt::format_to(std::back_inserter(out),
                   "link {}/1 state ACTIVE physical_state LINK_UP netdev {} \n",
                   Cluster::nic_name(nic), interface_of(nic));
  return out;
}

std::string df_shm(int percent) {
  const double used = 0.64 * percent;
  return fmt::format(
      "Filesystem      Size  Used Avail Use% Mounted on\n"
      "shm              64M {:>4.0f}M {:>4.0f}M {:>3}% /dev/shm\n",
      used, 64 - used, percent);
}

std::string ip_link(int mtu, int mtu_of_containers) {
  return fmt::format(
      "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group "
      "default qlen 1000\n"
      "    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n"
      "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu {} qdisc mq state UP mode DEFAULT group "
      "default qlen 1000\n"
      "    link/ether 02:fc:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n"
      "3: docker0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu {} qdisc noqueue state UP mode DEFAULT "
      "group default\n"
      "    link/ether 02:42:1d:00:00:01 brd ff:ff:ff:ff:ff:ff\n",
      mtu, mtu_of_containers);
}

}  // namespace faultline::simulation
