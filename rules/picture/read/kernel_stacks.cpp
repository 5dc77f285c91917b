#include "rules/picture/read/kernel_stacks.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "model/kernel_frame.h"
#include "rules/picture/when/between.h"

namespace faultline {
namespace {

// How far below its report a stack may stand: modules, registers and code come before it.
constexpr std::uint64_t kMostLines = 100;
constexpr std::int64_t kMostUs = 10'000'000;  // slow consoles take seconds for a report

// How long before a crash in its driver a device failed, if it is the reason.
constexpr std::int64_t kMostBetweenUs = 600'000'000;

bool has_stack(const KernelSighting& sighting) {
  const Cause cause = sighting.signature->cause;
  return sighting.signature->weight == Weight::cause &&
         (cause == Cause::host_down || cause == Cause::host_cpu_hang ||
          (cause == Cause::host_storage_stall && sighting.pid() != 0));  // a task that hangs
}

// Whether a line that ends a stack ends that of this report: the stack of the CPU that it is about
// may begin there.
bool ends_stack_of(const KernelSighting& report, std::string_view text) {
  constexpr std::string_view kOfCpu = "NMI backtrace for cpu ";
  if (!text.starts_with(kOfCpu)) return true;
  text.remove_prefix(kOfCpu.size());
  const std::string_view cpu = report.field("cpu");
  if (cpu.empty()) return report.signature->cause != Cause::host_cpu_hang;
  return text.substr(0, text.find(' ')) != cpu;
}

// "igc 0000:02:00.0 enp2s0: Detected Tx Unit Hang" is of the driver igc.
bool is_of_driver(const KernelSighting& sighting, std::string_view module) {
  const std::string_view text = sighting.text->remark.text;
  return !module.empty() && text.starts_with(module) && text.substr(module.size()).starts_with(' ');
}

// Functions that only report what the function before them found.
bool only_reports(std::string_view function) {
  constexpr std::string_view kReporters[] = {"lbug_with_loc", "libcfs_call_trace", "spl_panic",
                                             "spl_dumpstack"};
  return std::ranges::any_of(kReporters, [&](std::string_view name) {
    return function.starts_with(name);  // also lbug_with_loc.cold
  });
}

}  // namespace

void read_stacks(const View& view, std::vector<KernelSighting>& all) {
  using Place = std::pair<const KernelLog*, std::uint64_t>;  // a log and a line in it
  struct StackLine {
    const KernelText* text = nullptr;
    const KernelSaying* saying = nullptr;
  };
  std::map<Place, StackLine> lines;
  for (const KernelLog& log : view.job.kernel_lines().logs())
    for (const KernelText& text : log.texts)
      if (text.remark.place == kKernelStack)
        for (const KernelSaying& saying : text.sayings)
          lines.emplace(Place(&log, saying.line.line), StackLine{&text, &saying});
  if (lines.empty()) return;
  struct Report {
    KernelSighting* sighting = nullptr;
    const KernelSaying* saying = nullptr;
  };
  std::map<Place, Report> reports;
  for (KernelSighting& sighting : all)
    if (has_stack(sighting))
      for (const KernelSaying& saying : sighting.text->sayings)
        reports.emplace(Place(sighting.log, saying.line.line), Report{&sighting, &saying});
  for (auto report = reports.begin(); report != reports.end(); ++report) {
    const auto& [log, line] = report->first;
    const auto& [sighting, saying] = report->second;
    const auto next = std::next(report);
    const Place far(log, line + kMostLines);
    const Place end = next == reports.end() ? far : std::min(next->first, far);
    for (auto at = lines.upper_bound(report->first); at != lines.end() && at->first < end; ++at) {
      const auto& [text, its] = at->second;
      const auto passed = microseconds_between(saying->line.time, its->line.time);
      if (text->boot != sighting->text->boot || (passed && *passed > kMostUs)) break;
      const auto frame = kernel_frame_in(text->remark.text);
      if (!frame && ends_stack_of(*sighting, text->remark.text)) break;
      if (!frame || only_reports(frame->function)) continue;
      sighting->fields.emplace("module", frame->module);
      sighting->fields.emplace("function", frame->function);
      break;
    }
  }
}

bool is_failure_of_driver(const KernelSighting& sighting, const KernelSighting& crash) {
  if (sighting.log != crash.log || sighting.text->boot != crash.text->boot || !sighting.counts() ||
      sighting.recovery != nullptr || sighting.signature->cause != Cause::network_nic_failure ||
      sighting.signature->weight != Weight::cause ||
      !is_of_driver(sighting, crash.field("module")) || sighting.first->order > crash.first->order)
    return false;
  const auto passed = microseconds_between(sighting.last->line.time, crash.first->line.time);
  return passed && *passed <= kMostBetweenUs;
}

}  // namespace faultline
