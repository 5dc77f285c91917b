// What a file of /sys says about a port or an interface.
#pragma once

#include <string_view>

#include "model/facts/part.h"
#include "parsers/infiniband/infiniband_sysfs_path.h"

namespace faultline {

// Whether the path belongs to the part that the report is about.
bool is_of_sysfs_part(const PartReport& report, const SysfsPath& path);

// True for unused entries: tables of GIDs and keys have hundreds of them.
bool sysfs_says_nothing(const SysfsPath& path, std::string_view value);

void add_sysfs_value(PartReport& report, const SysfsPath& path, std::string_view value);

}  // namespace faultline
