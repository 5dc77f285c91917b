// What a file of /sys says of a port or an interface.
#pragma once

#include <string_view>

#include "model/facts/part.h"
#include "parsers/infiniband_sysfs_path.h"

namespace faultline {

void add_sysfs_value(PartReport& report, const SysfsPath& path, std::string_view value);

}  // namespace faultline
