// The table in which torchrun lists the workers that failed (ChildFailedError).
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_launcher_table(std::string_view text);
std::unique_ptr<Document> make_launcher_table();

}  // namespace faultline
