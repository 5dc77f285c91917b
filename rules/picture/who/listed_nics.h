// The NICs that processes of the job list, host by host.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rules/picture/read/kernel_sightings.h"

namespace faultline {

class ListedNics {
 public:
  ListedNics(const View& view, const KernelDevices& devices) : view_(view), devices_(devices) {}

  // Whether the processes that may be on this host use the NIC; nullopt: no line tells.
  std::optional<bool> is_used(const std::string& host, const KernelDevices::Names& nic);

  // The port of the device, as these processes list it (the 1 of mlx5_5:1). Empty: they list none,
  // or several.
  std::string port_of(const std::string& host, const std::string& device);

 private:
  struct OfHost {
    std::set<std::string> names;                         // of devices and interfaces
    std::map<std::string, std::set<std::string>> ports;  // by device
    bool lists_devices = false;                          // a process lists devices
    bool lists_only_interfaces = false;  // a process lists interfaces and no devices
    std::size_t placed_lists = 0;        // the addresses of all of its devices are known
    std::map<std::string, std::size_t> placed_lists_with;  // by address
  };
  const OfHost& of(const std::string& host);
  void learn_names(const std::vector<std::string>& list, OfHost& nics) const;
  void learn_addresses(const std::string& host, const std::vector<std::string>& list,
                       OfHost& nics) const;

  const View& view_;
  const KernelDevices& devices_;
  std::map<std::string, OfHost> hosts_;  // that were asked for
};

}  // namespace faultline
