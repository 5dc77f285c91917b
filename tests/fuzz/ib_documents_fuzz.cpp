// Output of InfiniBand tools: see part_reports.h.
#include "part_reports.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace faultline;
  fuzz_part_reports(data, size, [](const PartReport& part) {
    return !part.kind.empty() && std::ranges::none_of(part.names, [](const NamedValue& name) {
      return name.value.empty();
    });
  });
  return 0;
}
