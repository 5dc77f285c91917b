// What `nvsm show health` on NVIDIA's DGX systems says about a check that failed:
//   NetworkAdapter link speed [0000:35:00.0][2.5GT/s].................... Unhealthy
//       Expected value 8GT/s but detected 2.5GT/s
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_nvsm(std::string_view text);
std::unique_ptr<Document> make_nvsm();

}  // namespace faultline
