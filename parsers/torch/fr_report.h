// The report of torchfrtrace (fr_trace), which compares Flight Recorder dumps: a block for each
// collective that not all ranks entered, or that they called differently.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_fr_report(std::string_view text);
std::unique_ptr<Document> make_fr_report();

}  // namespace faultline
