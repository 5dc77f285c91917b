// The output of ncclras after SET FORMAT json (2.28.7 and later): a status report, or the events
// of the monitor.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/json/json_document.h"

namespace faultline {

bool begins_ncclras_status(std::string_view first_key);
std::unique_ptr<JsonReport> make_ncclras_status();

bool begins_ncclras_event(std::string_view first_key);
std::unique_ptr<JsonReport> make_ncclras_event();

}  // namespace faultline
