// dcgmi nvlink -e -g GPU: a table of one GPU's links. dcgmi nvlink -s: a letter for each link.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_dcgmi_nvlink(std::string_view text);
std::unique_ptr<Document> make_dcgmi_nvlink();

}  // namespace faultline
