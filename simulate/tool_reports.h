// What people's tools print when they look at the parts of a host.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/time.h"
#include "simulate/cluster.h"

namespace faultline::simulation {

// Each line with the time at which it was read, as kubectl logs --timestamps prints a collector's.
std::string stamped(std::string_view text, Timestamp when);

// nvidia-smi -q, of the values that faults show in.
struct GpuReport {
  std::string pci;
  int link_generation = 5;
  int link_width = 16;
  int utilization = 97;
  int temperature = 61;
  bool power_cap = false;         // which every GPU at work meets
  bool thermal_slowdown = false;  // by its hardware
  int uncorrectable = 0;          // errors of its memory since the driver was loaded
  bool remap_pending = false;
};
std::string nvidia_smi_q(Timestamp when, const std::vector<GpuReport>& gpus);

// Which port of the fabric a NIC is.
int lid_of(int host, int nic);
// `down`: a NIC whose port has lost its link; -1: none.
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
// ethtool -S, of an interface
std::string ethtool_statistics(const PortCounters& counters);
// rdma link: which interface is whose
std::string rdma_link(const Cluster& cluster);
std::string interface_of(int nic);

// df -h /dev/shm
std::string df_shm(int percent);

// ip link: of the interface that sockets use, and of one that containers have among themselves
std::string ip_link(int mtu, int mtu_of_containers);

}  // namespace faultline::simulation
