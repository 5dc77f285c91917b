// lspci -vv: the current PCIe links of GPUs and network cards, and what the links could be.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_lspci(std::string_view text);
std::unique_ptr<Document> make_lspci();

}  // namespace faultline
