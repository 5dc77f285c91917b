#include "rules/picture/who/listed_nics.h"

#include <algorithm>
#include <string_view>

namespace faultline {

void ListedNics::learn_names(const std::vector<std::string>& list, OfHost& nics) const {
  for (const std::string& item : list) {
    // Merged NICs are joined: "mlx5_0:1+mlx5_1:1".
    std::string_view rest = item;
    while (!rest.empty()) {
      const std::string_view one = rest.substr(0, rest.find('+'));
      nics.names.emplace(one.substr(0, one.find(':')));
      rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    }
  }
}

void ListedNics::learn_addresses(const std::string& host, const std::vector<std::string>& list,
                                 OfHost& nics) const {
  std::set<std::string> addresses;
  for (const std::string& item : list) {
    const std::size_t colon = item.find(':');
    const std::string device = item.substr(0, colon);
    if (colon != std::string::npos && item.find('+') == std::string::npos)
      nics.ports[device].insert(item.substr(colon + 1));
    const KernelDevices::Names* known =
        devices_.nic(host, {.pci = "", .device = device, .netdev = ""});
    addresses.insert(known == nullptr ? std::string() : known->pci);
  }
  if (list.empty() || addresses.contains("")) return;
  ++nics.placed_lists;
  for (const std::string& address : addresses) ++nics.placed_lists_with[address];
}

const ListedNics::OfHost& ListedNics::of(const std::string& host) {
  const auto [known, is_new] = hosts_.try_emplace(host);
  OfHost& nics = known->second;
  if (!is_new) return nics;
  std::set<const std::vector<std::string>*> lists;  // nearly every process has the same
  std::set<const std::vector<std::string>*> interfaces;
  for (const std::size_t index : view_.workers.perhaps_on(host)) {
    const ProcessKey& process = view_.workers.all[index].process;
    const auto& rdma = view_.job.addresses().devices_of(process);
    const auto& sockets = view_.job.addresses().devices_of(process, "Socket");
    lists.insert(&rdma);
    interfaces.insert(&sockets);
    nics.lists_devices |= !rdma.empty();
    nics.lists_only_interfaces |= rdma.empty() && !sockets.empty();
  }
  for (const auto* list : lists) {
    learn_names(*list, nics);
    learn_addresses(host, *list, nics);
  }
  for (const auto* list : interfaces) learn_names(*list, nics);
  nics.names.erase("");
  return nics;
}

std::optional<bool> ListedNics::is_used(const std::string& host, const KernelDevices::Names& nic) {
  const OfHost& nics = of(host);
  if (nics.names.contains(nic.device) || nics.names.contains(nic.netdev)) return true;
  // An interface that is not listed may belong to a listed device: then the address decides.
  const auto with = nics.placed_lists_with.find(nic.pci);
  const std::size_t lists_with = with == nics.placed_lists_with.end() ? 0 : with->second;
  const bool elsewhere = nic.netdev.empty() && !nic.pci.empty() && lists_with < nics.placed_lists;
  const bool told = (nics.lists_devices && !nic.device.empty()) || elsewhere ||
                    (nics.lists_only_interfaces && !nic.netdev.empty());
  return told ? std::optional(false) : std::nullopt;
}

std::string ListedNics::port_of(const std::string& host, const std::string& device) {
  const OfHost& nics = of(host);
  const auto ports = nics.ports.find(device);
  return ports == nics.ports.end() || ports->second.size() != 1 ? std::string()
                                                                : *ports->second.begin();
}

}  // namespace faultline
