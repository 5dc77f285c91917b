// The scenarios of every family; a file for each family.
#pragma once

#include "simulate/injection.h"

namespace faultline::simulation {

// traps.cpp: healthy jobs that look wrong
void healthy(Injection& it);
void healthy_alltoall_uneven(Injection& it);
void healthy_late_start(Injection& it);
void healthy_harmless_warns(Injection& it);
void healthy_cuda_graphs(Injection& it);
void healthy_subset_of_calls(Injection& it);
void healthy_unused_port(Injection& it);

// stops.cpp: ranks that stop
void rank_behind(Injection& it);
void group_stalled(Injection& it);
void kernel_hangs(Injection& it);
void data_loader_error(Injection& it);
void unused_parameters(Injection& it);
void gpu_memory_fault(Injection& it);

// gpu.cpp: GPUs that fail, by the words of their driver
void gpu_off_bus(Injection& it);
void gpu_ecc(Injection& it);
void gpu_row_remap(Injection& it);
void gpu_nvlink(Injection& it);
void gpu_nvswitch(Injection& it);
void gpu_gsp(Injection& it);
void gpu_hang(Injection& it);
void gpu_page_fault(Injection& it);
void gpu_thermal(Injection& it);
void pcie_error(Injection& it);
void pcie_degraded(Injection& it);

// host.cpp: hosts that fail, by the words of the kernel
void oom_killed(Injection& it);
void pids_limit(Injection& it);
void cpu_lockup(Injection& it);
void storage_stall(Injection& it);
void memory_error(Injection& it);
void host_reboot(Injection& it);
void host_panic(Injection& it);

// fabric.cpp: networks that fail, by the words of kernels and tools
void port_down(Injection& it);
void nic_health(Injection& it);
void link_errors(Injection& it);
void congestion(Injection& it);
void transport_error_clean_ports(Injection& it);
void mtu_mismatch(Injection& it);

// measured.cpp: jobs that run to their end, by measurements
void straggler_reported(Injection& it);
void straggler_profiled(Injection& it);
void communication_bound(Injection& it);
void bandwidth_low_host(Injection& it);
void bandwidth_low_network(Injection& it);
void wrong_results(Injection& it);

// calls.cpp: programs whose calls differ
void collective_skipped_odd(Injection& it);
void collective_skipped_same(Injection& it);
void collective_extra(Injection& it);
void collective_mismatch_function(Injection& it);
void collective_mismatch_count(Injection& it);
void collective_mismatch_datatype(Injection& it);
void collective_mismatch_op(Injection& it);
void collective_mismatch_root(Injection& it);
void mismatch_two_camps(Injection& it);
void invalid_usage_root(Injection& it);

// quiet.cpp: jobs that print little about their end
void collective_stalled(Injection& it);
void segfault(Injection& it);
void healthy_torn_down(Injection& it);

// pairs.cpp: sends and receives
void p2p_mismatch_missing_recv(Injection& it);
void p2p_mismatch_size(Injection& it);
void p2p_deadlock(Injection& it);

// launch.cpp: jobs that do not start
void rank_missing(Injection& it);
void rank_stuck_in_init(Injection& it);
void connect_failed(Injection& it);
void version_mismatch(Injection& it);
void invalid_usage_duplicate_gpu(Injection& it);
void shm_full(Injection& it);
void memlock(Injection& it);
void open_files(Injection& it);
void cuda_oom(Injection& it);

// network.cpp: networks that fail, by NCCL's words
void transport_error(Injection& it);
void peer_lost(Injection& it);
void nic_failure(Injection& it);
void link_down(Injection& it);

// configuration.cpp: jobs that run, but not as well as they could
void network_fallback(Injection& it);
void network_fallback_all(Injection& it);
void gdr_disabled(Injection& it);
void p2p_disabled(Injection& it);
void environment_mismatch(Injection& it);
void hca_set_differs(Injection& it);

}  // namespace faultline::simulation
