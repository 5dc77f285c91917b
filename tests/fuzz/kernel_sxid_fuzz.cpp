// Whatever the text: no crash, and every fact has the fields that it needs.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "parsers/kernel/kernel_host.h"
#include "parsers/kernel/kernel_sxid.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faultline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<Reading> readings;
  parse_sxid(text, readings);
  parse_fabric_manager(text, readings);
  for (const Reading& reading : readings) {
    const auto* error = std::get_if<SwitchError>(&reading.fact);
    if (error == nullptr || error->nvswitch.empty() || error->teller.empty()) std::abort();
  }
  parse_driver_unloading(text, readings);
  parse_host_stopping(text, readings);
  parse_clock(text, readings);
  parse_lost_lines(text, readings);
  return 0;
}
