// dcgmi diag -r N: which of its tests a host's GPUs passed, as a table.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_dcgmi_diag(std::string_view text);
std::unique_ptr<Document> make_dcgmi_diag();

}  // namespace faultline
