// df -h: how full the filesystems of a host are, above all /dev/shm.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_df(std::string_view text);
std::unique_ptr<Document> make_df();

}  // namespace faultline
