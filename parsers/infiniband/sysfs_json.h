// A snapshot of /sys as one JSON object: the path of each file and its content.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/json/json_document.h"

namespace faultline {

bool begins_sysfs_json(std::string_view key);
std::unique_ptr<JsonReport> make_sysfs_json();

}  // namespace faultline
