// What nvidia-smi prints instead of a report if it cannot reach a GPU or the driver.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "parsers/tool/part_document.h"

namespace faultline {

struct NvidiaSmiError {
  std::string_view pci;    // as printed; empty: the line names none
  std::string_view index;  // as printed; empty: the line names none
  std::string_view text;

  std::string_view kind() const { return pci.empty() && index.empty() ? "host" : "gpu"; }
  void tell(OpenPart& part) const;
};

std::optional<NvidiaSmiError> nvidia_smi_error(std::string_view text);

bool begins_nvidia_smi_error(std::string_view text);
std::unique_ptr<Document> make_nvidia_smi_error();

}  // namespace faultline
