// The JSON reports of dcgmi -j: diag (versions 3 and 4), health and nvlink.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/json/json_document.h"

namespace faultline {

bool begins_dcgmi_diag_json(std::string_view first_key);
std::unique_ptr<JsonReport> make_dcgmi_diag_json();

bool begins_dcgmi_table_json(std::string_view first_key);
std::unique_ptr<JsonReport> make_dcgmi_table_json();

}  // namespace faultline
