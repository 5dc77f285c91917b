// nvidia-smi nvlink -s, -e, -c, -p …: what it knows of each link. nvidia-smi -L prints its
// headings.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_nvidia_smi_nvlink(std::string_view text);
std::unique_ptr<Document> make_nvidia_smi_nvlink();

}  // namespace faultline
