// A link in the output of iblinkinfo:
//   1 2[  ] ==( 2X 106.25 Gbps Active/ LinkUp)==> 38 1[  ] "gpu-7 mlx5_1" (Could be 4X )
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/facts/part.h"

namespace faultline {

struct LinkRow {
  std::string_view before;        // the text before the near port's LID: a GUID, a name
  std::vector<NamedValue> names;  // lid, port, and those of the peer
  std::vector<NamedValue> values;
};

std::optional<LinkRow> read_link_row(std::string_view text);

}  // namespace faultline
