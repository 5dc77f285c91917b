// Reports of schedulers, Kubernetes and fabric managers on jobs, pods, nodes and links, and the
// steps that a training prints: see part_reports.h.
#include "part_reports.h"

namespace {

using namespace faultline;

bool makes_sense(const PartReport& report) {
  if (report.kind == "nodes") return has_name(report, "nodes");
  // A report on stragglers belongs to the job whose log it is in, so it needs no name.
  if (report.kind == "job" && report.tool != "straggler-report") return has_name(report, "job");
  if (report.tool == "ufm" || report.tool == "opensm") return has_name(report, "node");
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_part_reports(data, size, makes_sense);
  return 0;
}
