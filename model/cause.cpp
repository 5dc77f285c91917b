#include "model/cause.h"

#include <algorithm>

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

const CauseClass* cause_class(std::string_view name) {
  const auto* found = std::ranges::find(kClasses, name, &CauseClass::name);
  return found == std::ranges::end(kClasses) ? nullptr : found;
}

bool is_symptom(std::string_view cause) {
  const CauseClass* known = cause_class(cause);
  return known != nullptr && known->is_symptom;
}

bool is_of_a_machine(std::string_view cause) {
  constexpr std::string_view kFamilies[] = {"host", "gpu", "pcie", "network"};
  if (is_symptom(cause)) return false;
  return cause == "software.gpu_memory_fault" ||
         std::ranges::find(kFamilies, CauseClass{cause}.family()) != std::ranges::end(kFamilies);
}

}  // namespace faultline
