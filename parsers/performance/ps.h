// The output of ps: it shows processes that are stuck in the kernel, or ended and were not waited
// for. Only processes that stand still or may belong to the job are kept.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_ps(std::string_view text);
std::unique_ptr<Document> make_ps();

}  // namespace faultline
