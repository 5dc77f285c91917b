// What ps prints of processes: which of a job's are stuck in the kernel, or have ended and were not
// waited for. Of a machine's many processes those are kept that stand still or may be the job's.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_ps(std::string_view text);
std::unique_ptr<Document> make_ps();

}  // namespace faultline
