// How many TCP segments a host sent, and how many it sent again: netstat -s, nstat, and a line that
// people compute from a capture, "Total: 1822 Retransmits: 8 Rate: 0.4 %".
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_tcp_statistics(std::string_view text);
std::unique_ptr<Document> make_tcp_statistics();

}  // namespace faultline
