// What simulated_scenarios_test.cpp cannot ask of the rules yet. A row stands for all tests whose
// name begins with it; for twins, nothing is pending.
#pragma once

#include <string_view>

namespace faultline {

inline constexpr std::string_view kPending[] = {
    "healthy_late_start_2x8_2_30_plain",
    "healthy_late_start_2x8_2_30_slurm",
    "healthy_late_start_2x8_2_30_cri",
    "healthy_late_start_16x8_2_27_mpirun",
    "healthy_restart_2x8_2_21_plain",
    "healthy_restart_2x8_2_21_slurm",
    "healthy_restart_2x8_2_21_cri",
    "healthy_restart_2x8_2_30_plain",
    "healthy_restart_2x8_2_30_slurm",
    "healthy_restart_2x8_2_30_cri",
    "healthy_restart_16x8_2_21_plain",
    "rank_behind_2x8_2_12_plain",
    "rank_behind_2x8_2_12_slurm",
    "rank_behind_2x8_2_12_cri",
    "rank_behind_16x8_2_27_mpirun",
    "collective_skipped_odd_2x8",
    "collective_skipped_odd_16x8",
    "collective_skipped_same_2x8",
    "collective_skipped_same_16x8",
    "collective_mismatch_function_2x8_2_21_cri",
    "collective_mismatch_function_2x8_2_30_cri",
    "collective_mismatch_count_2x8_2_21_cri",
    "collective_mismatch_count_2x8_2_30_cri",
    "collective_mismatch_datatype_2x8_2_21_cri",
    "collective_mismatch_datatype_2x8_2_30_cri",
    "mismatch_two_camps_2x8_2_12_cri",
    "mismatch_two_camps_2x8_2_21_cri",
    "mismatch_two_camps_2x8_2_30_cri",
    "p2p_mismatch_missing_recv_2x8",
    "p2p_mismatch_missing_recv_16x8",
    "p2p_mismatch_size_2x8",
    "p2p_mismatch_size_16x8",
    "p2p_deadlock_2x8",
    "p2p_deadlock_16x8",
    "invalid_usage_root_2x8",
    "invalid_usage_root_16x8",
    "invalid_usage_duplicate_gpu_2x8",
    "invalid_usage_duplicate_gpu_16x8",
    "version_mismatch_2x8",
    "version_mismatch_16x8",
    "cuda_oom_2x8",
    "cuda_oom_16x8",
    "gpu_memory_fault_2x8",
    "gpu_memory_fault_16x8",
    "rank_missing_2x8",
    "rank_missing_16x8",
    "rank_stuck_in_init_2x8",
    "rank_stuck_in_init_16x8",
    "connect_failed_2x8",
    "connect_failed_16x8",
    "shm_full_2x8",
    "shm_full_16x8",
    "memlock_2x8",
    "memlock_16x8",
    "open_files_2x8",
    "open_files_16x8",
    "transport_error_2x8",
    "transport_error_16x8",
    "peer_lost_2x8",
    "peer_lost_16x8",
    "nic_failure_2x8",
    "nic_failure_16x8",
    "link_down_2x8",
    "link_down_16x8",
    "network_fallback_2x8",
    "network_fallback_16x8",
    "network_fallback_all_2x8",
    "network_fallback_all_16x8",
    "gdr_disabled_2x8",
    "gdr_disabled_16x8",
    "p2p_disabled_2x8",
    "p2p_disabled_16x8",
    "environment_mismatch_2x8",
    "environment_mismatch_16x8",
    "hca_set_differs_2x8",
    "hca_set_differs_16x8",
};

inline bool is_pending(std::string_view test) {
  if (test.ends_with("_twin")) return false;
  for (const std::string_view pending : kPending)
    if (test.starts_with(pending)) return true;
  return false;
}

}  // namespace faultline
