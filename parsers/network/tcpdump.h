// tcpdump, a line for each packet: of each path, how often a connection was asked for, answered and
// reset.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_tcpdump(std::string_view text);
std::unique_ptr<Document> make_tcpdump();

}  // namespace faultline
