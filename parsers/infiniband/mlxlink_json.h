// mlxlink --json
#pragma once

#include <memory>
#include <string_view>

#include "parsers/json/json_document.h"

namespace faultline {

bool begins_mlxlink_json(std::string_view key);
std::unique_ptr<JsonReport> make_mlxlink_json();

}  // namespace faultline
