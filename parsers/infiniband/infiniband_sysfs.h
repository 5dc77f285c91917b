// What a file of /sys says of a port or an interface.
#pragma once

#include <string_view>

#include "model/facts/part.h"
#include "parsers/infiniband/infiniband_sysfs_path.h"

namespace faultline {

// Whether the path is one of the part that the report is of.
bool is_of_sysfs_part(const PartReport& report, const SysfsPath& path);

// Tables of GIDs and keys have hundreds of rows that are not used.
bool sysfs_says_nothing(const SysfsPath& path, std::string_view value);

void add_sysfs_value(PartReport& report, const SysfsPath& path, std::string_view value);

}  // namespace faultline
