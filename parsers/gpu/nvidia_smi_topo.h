// nvidia-smi topo -m: what lies between each two of a host's GPUs and NICs.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_nvidia_smi_topo(std::string_view text);
std::unique_ptr<Document> make_nvidia_smi_topo();

}  // namespace faultline
