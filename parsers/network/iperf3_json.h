// iperf3 -J
#pragma once

#include <memory>
#include <string_view>

#include "parsers/json/json_document.h"

namespace faultline {

bool begins_iperf3_json(std::string_view first_key);
std::unique_ptr<JsonReport> make_iperf3_json();

}  // namespace faultline
