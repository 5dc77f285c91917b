// Text below the root of nvidia-smi's XML: see part_reports.h.
#include "model/pci_address.h"
#include "part_reports.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faultline;
  std::string text = "<nvidia_smi_log>\n<gpu id=\"00000000:3B:00.0\">\n";
  text.append(reinterpret_cast<const char*>(data), size);
  fuzz_part_reports(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                    [](const PartReport& report) {
                      if (report.tool != "nvidia-smi-xml" || report.kind != "gpu") return true;
                      return std::ranges::any_of(report.names, [](const NamedValue& name) {
                        return name.name == "pci" && normal_pci(name.value) == name.value;
                      });
                    });
  return 0;
}
