// smartctl -H, -A, -a: the health of a disk as the disk itself reports it.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_smartctl(std::string_view text);
std::unique_ptr<Document> make_smartctl();

}  // namespace faultline
