// The text output of iperf3: the rates of a path, and what was lost on it.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_iperf3_text(std::string_view text);
std::unique_ptr<Document> make_iperf3_text();

}  // namespace faultline
