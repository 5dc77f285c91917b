// ping. With -M do it shows which packet size a path lets through.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_ping(std::string_view text);
std::unique_ptr<Document> make_ping();

}  // namespace faultline
