#include "parsers/gpu/nvidia_smi_error.h"

#include "model/pci_address.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

// "GPU0000:3B:00.0: Unknown Error", "GPU 0000:3B:00.0: …", "GPU3: 0000:3B:00.0: …"
bool read_gpu(std::string_view rest, NvidiaSmiError& error) {
  if (!take_front(rest, "GPU") && !take_front(rest, "gpu")) return false;
  rest.remove_prefix(indentation(rest));
  std::string_view name;
  if (!take_until(rest, ": ", name)) return false;
  if (is_count(name)) {
    error.index = name;
    std::string_view after = rest;
    if (!take_until(after, ": ", name)) return true;
  }
  if (normal_pci(name)) error.pci = name;
  return !error.index.empty() || !error.pci.empty();
}

class ErrorLine : public PartDocument {
 public:
  ErrorLine() : PartDocument("nvidia-smi") {}

 private:
  Line read(std::string_view text) override {
    const auto error = nvidia_smi_error(text);
    if (!error) return Line::after;
    error->tell(open(error->kind()));
    return Line::last;
  }
};

}  // namespace

void NvidiaSmiError::tell(OpenPart& part) const {
  part.name("pci", normal_pci(pci).value_or(""));
  part.name("index", index);
  part.value("error", text);
}

std::optional<NvidiaSmiError> nvidia_smi_error(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return std::nullopt;
  NvidiaSmiError error{.pci = {}, .index = {}, .text = text};
  std::string_view rest = text;
  switch (text.front()) {
    case 'U':
      if (take_front(rest, "Unable to determine the device handle for ") && read_gpu(rest, error))
        return error;
      return std::nullopt;
    case 'N':
      if (text.starts_with("NVIDIA-SMI has failed because ") || text == "No devices were found")
        return error;
      return std::nullopt;
    case 'F':
      if (text.starts_with("Failed to initialize NVML: ")) return error;
      return std::nullopt;
    case 'G':
      if (text.starts_with("GPU is lost.")) return error;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

bool begins_nvidia_smi_error(std::string_view text) { return nvidia_smi_error(text).has_value(); }

std::unique_ptr<Document> make_nvidia_smi_error() { return std::make_unique<ErrorLine>(); }

}  // namespace faultline
