// How many TCP segments a host sent, and how many of them again: netstat -s, nstat, and the line
// that people count from a capture, "Total: 1822 Retransmits: 8 Rate: 0.4 %".
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_tcp_statistics(std::string_view text);
std::unique_ptr<Document> make_tcp_statistics();

}  // namespace faultline
