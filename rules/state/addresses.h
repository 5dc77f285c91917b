// The address book: which host has which IP address, and the names of each process's NICs. Used to
// read lines that name the end of a connection by address, or a NIC by number.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/batch.h"
#include "rules/state/process_key.h"

namespace faultline {

class AddressBook {
 public:
  void apply(const Source& origin, const Batch& batch, const Event& event);

  // The host that has this address, by NCCL's name for it. The address may come with a port or an
  // interface: "10.0.0.12<43918>", "10.0.0.12:43918", "::ffff:10.0.0.12", "eth0:10.0.0.12<0>".
  // Empty if not known, or if several hosts claim it, as with container bridges.
  std::string host_of_address(std::string_view address) const;

  // In the order in which they were first seen.
  std::vector<std::string> addresses_of(std::string_view host) const;

  // The NIC with this index in a process: "mlx5_1:1", or "eth0" for the network "Socket". Empty if
  // not known.
  std::string device_name(const ProcessKey& process, int index,
                          std::string_view network = "IB") const;

  // All NICs, by index. Empty: none, or not known.
  const std::vector<std::string>& devices_of(const ProcessKey& process,
                                             std::string_view network = "IB") const;

 private:
  using Devices = std::vector<std::string>;

  void learn_address(const std::string& host, std::string_view item);

  std::map<std::string, std::string, std::less<>> hosts_;  // by address; "": several hosts have it
  std::map<std::string, std::vector<std::string>, std::less<>> addresses_;  // by host
  // Nearly every process has the same list.
  std::map<Devices, std::uint32_t> known_lists_;
  std::vector<Devices> lists_;
  std::map<ProcessKey, std::uint32_t> rdma_;  // index into lists_
  std::map<ProcessKey, std::uint32_t> sockets_;
};

// "eth0:10.0.0.11<0>" -> "10.0.0.11", "fe80::1%ib1<17943>" -> "fe80::1", "[fd00::2]:4791" ->
// "fd00::2". Empty if no address is in it.
std::string bare_address(std::string_view text);

// Loopback, no address, Docker's bridge: each host has such an address of its own.
bool each_host_has(std::string_view address);

// "mlx5_1:1/RoCE" -> "mlx5_1:1"; for merged NICs "mlx5_0:1+mlx5_1:1".
std::string device_without_link(std::string_view item);

}  // namespace faultline
