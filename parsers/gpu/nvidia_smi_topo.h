// nvidia-smi topo -m: the kind of path between every two GPUs and NICs of a host.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_nvidia_smi_topo(std::string_view text);
std::unique_ptr<Document> make_nvidia_smi_topo();

}  // namespace faultline
