// The logs of the managers of an InfiniBand fabric: UFM's events, and OpenSM's lines about ports.
//
//   2026-03-05 02:47:11.103 [1235] [329] CRITICAL [Link] [default / Switch: leaf-4 / 12]:
//       Link went down: (Switch:leaf-4:12)1070fd03:12 - (Computer:gpu-3 mlx5_4:1)b8cef603:1
//   Mar 05 02:47:11 103482 [4A2B] 0x02 -> Removed port with GUID:0xb8cef60300aa1234 LID range
//       [19, 19] of node:gpu-3 mlx5_4
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

bool parse_ufm(std::string_view text, std::vector<Reading>& readings);
bool parse_opensm(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
