// Reports of nvidia-smi and DCGM on GPUs: see part_reports.h.
#include "model/pci_address.h"
#include "part_reports.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faultline;
  fuzz_part_reports(data, size, [](const PartReport& report) {
    // A section alone does not say which GPU it is about.
    const bool has_sections = report.tool == "nvidia-smi-q" || report.tool == "amd-smi";
    if (report.kind == "gpu" && report.names.empty() && !has_sections) return false;
    if (report.kind == "nvlink" && !has_name(report, "link")) return false;
    return std::ranges::all_of(report.names, [](const NamedValue& name) {
      return name.name != "pci" || normal_pci(name.value) == name.value;
    });
  });
  return 0;
}
