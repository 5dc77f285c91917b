// Nics: the names of each NIC of a host. The kernel uses a PCI address or an interface; NCCL and
// the RDMA tools use a device.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "model/batch.h"

namespace faultline {

// Unknown names are empty.
struct Nic {
  std::string spoken_host;  // empty: the source decides
  std::uint32_t source = 0;
  std::string pci;     // 0000:5c:00.0
  std::string device;  // mlx5_2
  std::string netdev;  // ens3f0np0
  auto operator<=>(const Nic&) const = default;
};

class Nics {
 public:
  // Learns from tools' reports that name a part by its PCI address and its device or interface.
  void apply(std::uint32_t source, const Batch& batch, const Event& event);

  static bool learns_from(const PartReport& report);

  // Two of the names, from any line; the address may have any usual spelling.
  void learn(Nic nic);

  const std::set<Nic>& all() const { return all_; }

 private:
  std::set<Nic> all_;
};

}  // namespace faultline
