// Xids in the reports of health agents, which saw them through NVML or in the kernel log: gpud,
// Kubernetes' device plug-in, NVSentinel.
//
//   XID 79(GPU has fallen off the bus) detected on PCI:0000:ae:00
//   XidCriticalError: Xid=79 on Device=GPU-604ac76c-…; marking device as unhealthy.
//   {"checkName":"GpuXidError","isHealthy":false,"errorCode":["79"],"entitiesImpacted":[…],…}
//
// A condition of a node, as kubectl prints it:
//   XidCriticalError     True    Mon, 23 Jun 2025 18:45:43 +0000   …   {"79":true}
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

bool parse_quoted_xid(std::string_view text, std::vector<Reading>& readings);
bool parse_nvsentinel(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
