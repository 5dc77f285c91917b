// ping, and with -M do the size of packets that a path lets through.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_ping(std::string_view text);
std::unique_ptr<Document> make_ping();

}  // namespace faultline
