// nccl-tests, benchmarks of MPI, nsys, ps, lines of scripts: see part_reports.h. Traces go through
// the same reader, and give the same result wherever they are cut.
#include "ingest/dump_body.h"
#include "ingest/trace_body.h"
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

// The reader looks for dumps and traces where a body begins, and after a restart any line may be
// that place.
bool begins_anew(std::string_view text) {
  for (std::size_t line = text.find('\n'); line != text.npos; line = text.find('\n', line + 1)) {
    const std::string_view rest = text.substr(line + 1);
    if (!rest.empty() && (DumpBody::may_begin(rest) || TraceBody::may_begin(rest)) &&
        rest.find_first_not_of(" \t\r\n") != rest.npos)
      return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (begins_anew({reinterpret_cast<const char*>(data), size})) return 0;
  fuzz_part_reports(data, size, makes_sense);
  return 0;
}
