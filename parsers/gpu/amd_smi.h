// What amd-smi prints of GPUs and NICs as sections: static, metric, list, bad-pages. Keys in
// capitals, indented below the GPU or NIC that they are of.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_amd_smi(std::string_view text);
std::unique_ptr<Document> make_amd_smi();

}  // namespace faultline
