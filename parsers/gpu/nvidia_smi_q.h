// nvidia-smi -q: names and values of each GPU, in sections that only the indentation shows.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_nvidia_smi_q(std::string_view text);
std::unique_ptr<Document> make_nvidia_smi_q();

}  // namespace faultline
