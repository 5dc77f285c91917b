#include "parsers/gpu/xid_quoted.h"

#include <string>

#include "model/pci_address.h"
#include "parsers/pattern.h"
#include "parsers/tool/tool_words.h"

namespace faultline {

bool parse_quoted_xid(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kXid(
      R"((?i:\bxid[ =])(\d{1,3})(?:\.\d+)?\b[^\r\n]{0,200}?(?: detected on (?:GPU )?(?:UUID:)?| on Device=)(?:PCI:)?((?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?|GPU-[0-9a-fA-F-]{36}))");
  std::string_view code;
  std::string_view gpu;
  if (!kXid.find(text, &code, &gpu)) return false;
  PartReport report{.tool = "gpu-agent", .kind = "gpu", .names = {}, .values = {}};
  if (const auto pci = normal_pci(gpu))
    set_name(report.names, "pci", *pci);
  else
    set_name(report.names, "uuid", gpu);
  set_value(report.values, "xid", code);
  readings.push_back({.fact = std::move(report)});
  return true;
}

}  // namespace faultline
