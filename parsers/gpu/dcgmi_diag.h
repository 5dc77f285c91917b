// dcgmi diag -r N: a table of the tests, and which of them the GPUs of a host passed.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_dcgmi_diag(std::string_view text);
std::unique_ptr<Document> make_dcgmi_diag();

}  // namespace faultline
