// Whatever the text: no crash, and every fact has the fields that it needs.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "parsers/kernel/kernel_xid.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faultline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<Reading> readings;
  const bool driver = parse_nvrm(text, readings);
  if (!driver && !readings.empty()) std::abort();
  for (const Reading& reading : readings)
    if (const auto* xid = std::get_if<GpuXid>(&reading.fact);
        xid && xid->gpu.empty() && xid->xid_line)
      std::abort();
  parse_boot(text, readings);
  return 0;
}
