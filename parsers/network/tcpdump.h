// tcpdump, which prints a line for each packet. The fact: how often a connection was asked for,
// answered and reset on each path.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_tcpdump(std::string_view text);
std::unique_ptr<Document> make_tcpdump();

}  // namespace faultline
