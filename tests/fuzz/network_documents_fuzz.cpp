// Reports of ping, ip, iperf3 and similar tools on paths and interfaces: see part_reports.h. The
// lines of an input come in two orders, so that reports begin inside others.
#include <vector>

#include "part_reports.h"

namespace {

using namespace faultline;

bool has_failed(const PartReport& report) {
  return std::ranges::find(report.values, "error", &NamedValue::name) != report.values.end();
}

bool makes_sense(const PartReport& report) {
  // A tool that failed does not name its interface, and statistics of ethtool are pasted without
  // the command that names it.
  if (report.kind == "netdev" && !report.tool.starts_with("ethtool"))
    return has_name(report, "netdev") || has_name(report, "index") || has_failed(report);
  if (report.tool == "nc") return has_name(report, "to") && has_name(report, "port");
  if (report.tool == "df") return has_name(report, "mount");
  return true;
}

std::string every_third_line_first(std::string_view text) {
  std::string order[3];
  for (std::size_t line = 0; !text.empty(); ++line) {
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    order[line % 3] += text.substr(0, length);
    text.remove_prefix(length);
  }
  return order[0] + order[1] + order[2];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_part_reports(data, size, makes_sense);
  const std::string mixed = every_third_line_first({reinterpret_cast<const char*>(data), size});
  fuzz_part_reports(reinterpret_cast<const std::uint8_t*>(mixed.data()), mixed.size(), makes_sense);
  return 0;
}
