// tshark -q -z io,stat, conv and expert: counts of the packets in a capture.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_tshark(std::string_view text);
std::unique_ptr<Document> make_tshark();

}  // namespace faultline
