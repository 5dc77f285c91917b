// The tables of amd-smi: without a command, of monitor, and of the states of XGMI links.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_amd_smi_table(std::string_view text);
std::unique_ptr<Document> make_amd_smi_table();

}  // namespace faultline
