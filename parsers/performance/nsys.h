// The output of `nsys stats`: sums by kernel, by CUDA call, by NVTX range, as CSV or as a table. A
// sum says nothing about overlap.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_nsys(std::string_view text);
std::unique_ptr<Document> make_nsys();

}  // namespace faultline
