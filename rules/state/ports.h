// The network ports of a job's hosts and of their switches, each joined from what all tools say
// about it. One tool names a port by device, another by GUID, LID, interface or PCI address; a
// report with two of these names ties them together.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "rules/state/job_state.h"

namespace faultline {

inline constexpr std::size_t kNoPort = SIZE_MAX;

struct NetworkPort {
  std::string host;    // empty: a switch port, or not known
  std::string device;  // mlx5_0
  std::string port;    // 1
  std::string netdev;
  std::string pci;
  std::string guid;
  std::string lid;
  std::string node;           // the fabric's name: "gpu-7 mlx5_1", "MF0;leaf01:MQM9700/U1"
  bool by_lid_alone = false;  // assumed to be on the host where the tool ran
  std::vector<const PartRecord*> records;
  std::size_t peer = kNoPort;           // the other end of its cable
  const PartRecord* cabling = nullptr;  // the report that says so

  bool is_host_port() const { return !host.empty(); }
  // "gpu-7/mlx5_1:1", "switch leaf01 port 2", "gpu-7/eth0"
  std::string label() const;
  // With the PCI address, if it is known: " at 0000:5c:00.0".
  std::string label_and_place() const;
};

class Ports {
 public:
  explicit Ports(const JobState& job);

  const std::vector<NetworkPort>& all() const { return all_; }

  // Indices of the ports of a host, ascending. Empty host: the ports whose host is not known.
  const std::vector<std::size_t>& on(std::string_view host) const;

  // nullptr: no report names it. A device may be given with its port, as NCCL does: mlx5_0:1.
  const NetworkPort* find_by_device(std::string_view host, std::string_view device) const;

 private:
  // Host, device and port number; nullopt: any port.
  using DeviceKey = std::tuple<std::string, std::string, std::optional<std::string>>;

  std::vector<NetworkPort> all_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_host_;
  std::map<DeviceKey, std::size_t> by_device_;  // the first such port
};

}  // namespace faultline
