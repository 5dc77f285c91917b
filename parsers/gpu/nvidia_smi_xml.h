// nvidia-smi -q -x: the report of -q as XML.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_nvidia_smi_xml(std::string_view text);
std::unique_ptr<Document> make_nvidia_smi_xml();

}  // namespace faultline
