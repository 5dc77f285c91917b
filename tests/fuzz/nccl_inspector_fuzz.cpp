// Whatever the text: no crash, and every record has a communicator, a rank and the completed
// operation.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "parsers/nccl/nccl_inspector.h"
#include "parsers/nccl/proxy_dump.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faultline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<Reading> readings;
  if (!parse_nccl_inspector(text, readings) && !readings.empty()) std::abort();
  for (const Reading& reading : readings) {
    const auto& record = std::get<RankReport>(reading.fact);
    if (record.communicator_id.empty() || record.rank < 0 || !record.completed ||
        *record.completed == 0 || record.operation.empty())
      std::abort();
  }
  readings.clear();
  if (!parse_proxy_operation(text, readings) && !readings.empty()) std::abort();
  for (const Reading& reading : readings)
    if (std::get<ProxyOperation>(reading.fact).kind.empty()) std::abort();
  return 0;
}
