// `scontrol show node` and `scontrol show job`: the state of a node or a job.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_scontrol(std::string_view text);
std::unique_ptr<Document> make_scontrol();

}  // namespace faultline
