#include "model/cause.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace faultline {
namespace {

constexpr bool kSymptom = true;

constexpr CauseClass kClasses[] = {
    {"software.collective_skipped"},
    {"software.collective_mismatch"},
    {"software.p2p_mismatch"},
    {"software.rank_crashed"},
    {"software.cuda_oom"},
    {"software.gpu_memory_fault"},
    {"software.invalid_usage"},
    {"software.version_mismatch"},
    {"software.unused_parameters"},
    {"software.straggler"},
    {"launch.rank_missing"},
    {"launch.connect_failed"},
    {"host.oom_killed"},
    {"host.shm_full"},
    {"host.limits"},
    {"host.cpu_hang"},
    {"host.storage_stall"},
    {"host.memory_error"},
    {"host.down"},
    {"gpu.off_bus"},
    {"gpu.ecc_uncorrectable"},
    {"gpu.row_remap"},
    {"gpu.nvlink_error"},
    {"gpu.nvswitch_error"},
    {"gpu.gsp_timeout"},
    {"gpu.hang"},
    {"gpu.thermal"},
    {"pcie.error"},
    {"pcie.degraded"},
    {"network.link_down"},
    {"network.link_errors"},
    {"network.congestion"},
    {"network.transport_error"},
    {"network.peer_lost"},
    {"network.mtu_mismatch"},
    {"network.nic_failure"},
    {"config.network_fallback"},
    {"config.gdr_disabled"},
    {"config.p2p_disabled"},
    {"config.environment_mismatch"},
    {"performance.bandwidth_low"},
    {"performance.communication_bound"},
    {"corruption.wrong_results"},
    {"collective.rank_behind", kSymptom},
    {"collective.stalled", kSymptom},
    {"collective.timeout", kSymptom},
    {"process.aborted", kSymptom},
    {"process.silent", kSymptom},
    {"nccl.error", kSymptom},
    {"gpu.teardown", kSymptom},
    {"host.error", kSymptom},
};

}  // namespace

std::span<const CauseClass> cause_classes() { return kClasses; }

std::size_t cause_number(std::string_view name) {
  static const auto numbers = [] {
    std::unordered_map<std::string_view, std::size_t> all;
    for (const CauseClass& known : kClasses) all.emplace(known.name, all.size());
    return all;
  }();
  const auto found = numbers.find(name);
  return found == numbers.end() ? std::size(kClasses) : found->second;
}

const CauseClass* cause_class(std::string_view name) {
  const std::size_t number = cause_number(name);
  return number == std::size(kClasses) ? nullptr : &kClasses[number];
}

bool is_symptom(std::string_view cause) {
  const CauseClass* known = cause_class(cause);
  return known != nullptr && known->is_symptom;
}

bool leaves_open_why(std::string_view cause) {
  return cause == "network.transport_error" || cause == "network.peer_lost" ||
         cause == "launch.connect_failed" || cause == "launch.rank_missing";
}

bool is_of_a_machine(std::string_view cause) {
  constexpr std::string_view kFamilies[] = {"host", "gpu", "pcie", "network"};
  if (is_symptom(cause)) return false;
  return cause == "software.gpu_memory_fault" ||
         std::ranges::find(kFamilies, CauseClass{cause}.family()) != std::ranges::end(kFamilies);
}

}  // namespace faultline
