// The output of rocm-smi: rows of "GPU[0] : key: value", tables of memory errors and of retired
// pages, and the summary.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_rocm_smi(std::string_view text);
std::unique_ptr<Document> make_rocm_smi();

}  // namespace faultline
