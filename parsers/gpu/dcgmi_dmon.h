// dcgmi dmon and nvidia-smi dmon: a row of numbers for each GPU at each time, under a head that is
// repeated.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_dcgmi_dmon(std::string_view text);
std::unique_ptr<Document> make_dcgmi_dmon();

bool begins_nvidia_smi_dmon(std::string_view text);
std::unique_ptr<Document> make_nvidia_smi_dmon();

}  // namespace faultline
