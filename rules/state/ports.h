// The network ports of a job's hosts and of the switches they are cabled to, each put together from
// what all tools said of it. One tool knows a port by device, another by GUID, LID, interface or
// PCI address; a report that names two of these ties them together.
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
  std::string host;    // empty: a switch's, or not known whose
  std::string device;  // mlx5_0
  std::string port;    // 1
  std::string netdev;
  std::string pci;
  std::string guid;
  std::string lid;
  std::string node;           // as the fabric calls it: "gpu-7 mlx5_1", "MF0;leaf01:MQM9700/U1"
  bool by_lid_alone = false;  // whose it is was taken from where the tool ran
  std::vector<const PartRecord*> records;
  std::size_t peer = kNoPort;           // the other end of its cable
  const PartRecord* cabling = nullptr;  // that told so

  bool is_host_port() const { return !host.empty(); }
  // "gpu-7/mlx5_1:1", "switch leaf01 port 2", "gpu-7/eth0"
  std::string label() const;
  // With the card's PCI address, where it is known: " at 0000:5c:00.0".
  std::string label_and_place() const;
};

class Ports {
 public:
  explicit Ports(const JobState& job);

  const std::vector<NetworkPort>& all() const { return all_; }

  // Indices of those of a host, ascending. Empty host: of those of which none is known.
  const std::vector<std::size_t>& on(std::string_view host) const;

  // nullptr: no report names it. A device may be given with its port, as NCCL does: mlx5_0:1.
  const NetworkPort* find_by_device(std::string_view host, std::string_view device) const;

 private:
  // Host, device, and which port of it; none: any.
  using DeviceKey = std::tuple<std::string, std::string, std::optional<std::string>>;

  std::vector<NetworkPort> all_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_host_;
  std::map<DeviceKey, std::size_t> by_device_;  // the first
};

}  // namespace faultline
