// nvidia-smi --query-…=COLUMNS --format=csv: any columns, named by the head or the command line.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_nvidia_smi_csv(std::string_view text);
std::unique_ptr<Document> make_nvidia_smi_csv();

}  // namespace faultline
