#include "rules/detect/lost_together.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "model/pci_address.h"
#include "rules/knowledge/machines.h"
#include "rules/picture/when/between.h"

namespace faultline {
namespace {

constexpr std::int64_t kAtOnceUs = 5'000'000;
constexpr std::size_t kMostGpusOfAHost = 64;  // names of more are invented

std::string address_of(const Finding& finding) {
  const std::string& name = finding.subject.gpus.front();
  return name.substr(name.rfind('/') + 1);
}

// By GPU, as in a finding's subject.
std::map<std::string, std::string> serial_numbers(const View& view) {
  std::map<std::string, std::string> serials;
  for (const Hardware::Gpu& gpu : view.job.hardware().gpus())
    if (const auto address = normal_pci(gpu.gpu); address && !gpu.serial.empty())
      serials[gpu_name(view.job.host_of(gpu.spoken_host, gpu.source), *address)] = gpu.serial;
  return serials;
}

void tell_together(const std::vector<const Suspicion*>& others,
                   const std::map<std::string, std::string>& serials, Finding& finding) {
  const auto serial = serials.find(finding.subject.gpus.front());
  const auto is_of_board = [&](const Suspicion* other) {
    const auto known = serials.find(other->finding.subject.gpus.front());
    return serial != serials.end() && known != serials.end() && known->second == serial->second;
  };
  finding.title += others.size() == 1
                       ? fmt::format(", together with GPU {}", address_of(others.front()->finding))
                       : fmt::format(", together with {} other GPUs of the host", others.size());
  const bool one_board = std::ranges::all_of(others, is_of_board);
  if (one_board)
    finding.title += fmt::format(" of the same board, serial number {}", serial->second);
  finding.actions.insert(
      finding.actions.begin(),
      {.what = one_board
                   ? "Look at the board, its slot and its power: its GPUs were lost at once."
                   : "Look for what these GPUs share before one of them is replaced: a board, "
                     "a riser, a PCIe switch, power.",
       .where = finding.subject.hosts.empty() ? "" : finding.subject.hosts.front(),
       .command = "lspci -tv; nvidia-smi -q | grep -E 'Bus Id|Serial Number'; ipmitool sel list"});
}

}  // namespace

void tell_who_was_lost_together(const View& view, std::vector<Suspicion>& found) {
  std::map<std::vector<std::string>, std::vector<Suspicion*>> lost;  // by machine
  for (Suspicion& suspicion : found)
    if (suspicion.finding.cause == Cause::gpu_off_bus && suspicion.finding.subject.gpus.size() == 1)
      lost[machines_of(suspicion.finding)].push_back(&suspicion);
  std::erase_if(lost, [](const auto& of_machine) {
    return of_machine.second.size() < 2 || of_machine.second.size() > kMostGpusOfAHost;
  });
  if (lost.empty()) return;
  const std::map<std::string, std::string> serials = serial_numbers(view);
  for (const auto& [machine, gpus] : lost)
    for (Suspicion* one : gpus) {
      std::vector<const Suspicion*> others;
      for (const Suspicion* other : gpus) {
        const auto passed = microseconds_between(one->since, other->since);
        if (other != one && passed && std::abs(*passed) <= kAtOnceUs) others.push_back(other);
      }
      if (!others.empty()) tell_together(others, serials, one->finding);
    }
}

}  // namespace faultline
