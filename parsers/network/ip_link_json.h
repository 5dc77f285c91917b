// ip -j link, also with -s and -d.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/json/json_document.h"

namespace faultline {

bool begins_ip_link_json(std::string_view first_key);
std::unique_ptr<JsonReport> make_ip_link_json();

}  // namespace faultline
