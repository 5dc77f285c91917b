// What schedulers, Kubernetes and managers of fabrics say of jobs, pods, nodes and links, and what
// a training prints of its steps: see part_reports.h.
#include "part_reports.h"

namespace {

using namespace faultline;

bool makes_sense(const PartReport& report) {
  if (report.kind == "nodes") return has_name(report, "nodes");
  // What a script says of stragglers is of the job that it is in.
  if (report.kind == "job" && report.tool != "straggler-report") return has_name(report, "job");
  if (report.tool == "ufm" || report.tool == "opensm") return has_name(report, "node");
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_part_reports(data, size, makes_sense);
  return 0;
}
