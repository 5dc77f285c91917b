// nvidia-smi nvlink -s, -e, -c, -p …: rows for each link. Its headings are the same lines as those
// of nvidia-smi -L.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_nvidia_smi_nvlink(std::string_view text);
std::unique_ptr<Document> make_nvidia_smi_nvlink();

}  // namespace faultline
