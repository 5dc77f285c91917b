// The output of amd-smi static, metric, list and bad-pages: sections with keys in capitals,
// indented below their GPU or NIC.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_amd_smi(std::string_view text);
std::unique_ptr<Document> make_amd_smi();

}  // namespace faultline
