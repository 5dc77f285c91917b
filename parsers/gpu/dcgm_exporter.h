// The answer of dcgm-exporter to Prometheus or curl: a line for each metric of each GPU.
//
//   # HELP DCGM_FI_DEV_XID_ERRORS Value of the last XID error encountered.
//   DCGM_FI_DEV_XID_ERRORS{gpu="1",UUID="GPU-604ac76c-…",pci_bus_id="00000000:2A:00.0",
//                          Hostname="gpu-node-3"} 79
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_dcgm_exporter(std::string_view text);
std::unique_ptr<Document> make_dcgm_exporter();

}  // namespace faultline
