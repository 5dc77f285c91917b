// What tools print about the parts of a host.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/time.h"
#include "simulate/cluster.h"

namespace faultline::simulation {

// Puts a time before each line, as kubectl logs --timestamps does for a collector's output.
std::string stamped(std::string_view text, Timestamp when);

// nvidia-smi -q, with the values in which faults show.
struct GpuReport {
  std::string pci;
  int link_generation = 5;
  int link_width = 16;
  int utilization = 97;
  int temperature = 61;
  bool power_cap = false;         // a busy GPU reaches it normally
  bool thermal_slowdown = false;  // by the hardware
  int uncorrectable = 0;          // memory errors since the driver was loaded
  bool remap_pending = false;
};
std::string nvidia_smi_q(Timestamp when, const std::vector<GpuReport>& gpus);

// The LID of a NIC's port.
int lid_of(int host, int nic);
// `down`: the NIC whose port has lost its link; -1: none.
std::string ibstat(const Cluster& cluster, int host, int down = -1);

struct PortCounters {
  std::uint64_t symbol_errors = 0;
  std::uint64_t recoveries = 0;
  std::uint64_t downed = 0;
  std::uint64_t receive_errors = 0;
  std::uint64_t discards = 0;
  std::uint64_t wait = 0;
  std::uint64_t words = 0;  // sent and received
};
// perfquery -x
std::string perfquery(int lid, const PortCounters& counters);
// ethtool -S, for one interface
std::string ethtool_statistics(const PortCounters& counters);
// rdma link: which interface belongs to which NIC
std::string rdma_link(const Cluster& cluster);
std::string interface_of(int nic);

// df -h /dev/shm
std::string df_shm(int percent);

// ip link: the interface that sockets use, and one between containers
std::string ip_link(int mtu, int mtu_of_containers);

}  // namespace faultline::simulation
