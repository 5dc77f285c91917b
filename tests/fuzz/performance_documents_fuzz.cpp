// nccl-tests, nsys, ps, scripts' lines: see part_reports.h. Traces are read at the same door; cut
// anywhere they tell the same.
#include "part_reports.h"

namespace {

using namespace faultline;

bool makes_sense(const PartReport& report) {
  if (report.kind == "process") return has_name(report, "pid");
  if (report.kind == "rank") return has_name(report, "rank");
  if (report.kind == "trace")
    return std::ranges::none_of(report.values, [](const NamedValue& value) {
      return value.name.ends_with(" us") && value.value.starts_with('-');
    });
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_part_reports(data, size, makes_sense);
  return 0;
}
