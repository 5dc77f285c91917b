// ip link, ip -s link, ip addr: the state of a host's network interfaces.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_ip_link(std::string_view text);
std::unique_ptr<Document> make_ip_link();

}  // namespace faultline
