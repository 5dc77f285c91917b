#include "rules/picture/read/kernel_stacks.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "model/kernel_frame.h"

namespace faultline {
namespace {

// How far below its report a stack may stand: modules, registers and code come before it.
constexpr std::uint64_t kMostLines = 100;

bool has_stack(const KernelSighting& sighting) {
  const Cause cause = sighting.signature->cause;
  return sighting.signature->weight == Weight::cause &&
         (cause == Cause::host_down || cause == Cause::host_cpu_hang ||
          (cause == Cause::host_storage_stall && sighting.pid() != 0));  // a task that hangs
}

// "igc 0000:02:00.0 enp2s0: Detected Tx Unit Hang" is of the driver igc.
bool is_of_driver(const KernelSighting& sighting, std::string_view module) {
  const std::string_view text = sighting.text->remark.text;
  return !module.empty() && text.starts_with(module) && text.substr(module.size()).starts_with(' ');
}

// Functions that only report what the function before them found.
bool only_reports(std::string_view function) {
  return function.starts_with("lbug_with_loc") || function == "spl_panic" ||
         function == "spl_dumpstack";
}

}  // namespace

void read_stacks(const View& view, std::vector<KernelSighting>& all) {
  using Place = std::pair<std::uint32_t, std::uint64_t>;  // source and line
  std::map<Place, const KernelText*> frames;
  for (const KernelLog& log : view.job.kernel_lines().logs())
    for (const KernelText& text : log.texts)
      if (text.remark.place == kKernelStack)
        for (const KernelSaying& saying : text.sayings)
          frames.emplace(Place(log.source, saying.line.line), &text);
  if (frames.empty()) return;
  std::map<Place, KernelSighting*> reports;
  for (KernelSighting& sighting : all)
    if (has_stack(sighting))
      for (const KernelSaying& saying : sighting.text->sayings)
        reports.emplace(Place(sighting.log->source, saying.line.line), &sighting);
  for (auto report = reports.begin(); report != reports.end(); ++report) {
    const auto& [source, line] = report->first;
    KernelSighting& sighting = *report->second;
    const auto next = std::next(report);
    const Place far(source, line + kMostLines);
    const Place end = next == reports.end() ? far : std::min(next->first, far);
    for (auto at = frames.lower_bound(report->first); at != frames.end() && at->first < end; ++at) {
      const auto frame = kernel_frame_in(at->second->remark.text);
      if (!frame || only_reports(frame->function)) continue;
      sighting.fields.emplace("module", frame->module);
      sighting.fields.emplace("function", frame->function);
      break;
    }
  }
}

bool is_failure_of_driver(const KernelSighting& sighting, const KernelSighting& crash) {
  return sighting.log == crash.log && sighting.text->boot == crash.text->boot &&
         sighting.counts() && sighting.signature->weight == Weight::cause && !has_stack(sighting) &&
         is_of_driver(sighting, crash.field("module")) &&
         sighting.first->order < crash.first->order;
}

}  // namespace faultline
