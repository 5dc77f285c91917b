// nvidia-smi without arguments: a table of the GPUs and a table of the processes on them.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_nvidia_smi_table(std::string_view text);
std::unique_ptr<Document> make_nvidia_smi_table();

}  // namespace faultline
