// The address of a device on a host's PCI bus: the name a GPU has in kernel lines and in NCCL's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace faultline {

// NCCL's busId: "3b000" is 0000:3b:00.0.
std::optional<std::string> pci_from_nccl_bus_id(std::string_view hex);

// "0000:3b:00", "3B:00.0", "00000000:3B:00.0": any usual spelling becomes 0000:3b:00.0.
std::optional<std::string> normal_pci(std::string_view text);

}  // namespace faultline
