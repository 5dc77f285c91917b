// Reads what logs say about a machine's NVSwitches: the SXid lines of their driver, and the errors
// that the fabric manager writes into its own log.
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

// nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress … error (First)
// nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Severity 0 Engine instance 32 …
// nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Data {0x00000000, …}
bool parse_sxid(std::string_view text, std::vector<Reading>& readings);

// [Mar 05 2026 02:47:12] [ERROR] [tid 841] detected NVSwitch non-fatal error 12028 on fid 0 on
// NVSwitch pci bus id 00000000:C1:00.0 physical id 0 port 32
bool parse_fabric_manager(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
