#include "simulate/scenario.h"

#include "simulate/scenarios/families.h"

namespace faultline::simulation {
namespace {

constexpr bool kPrepares = true;

constexpr Scenario kScenarios[] = {
    {"healthy", "", "nothing is wrong", healthy},
    {"healthy_uneven_opcounts", "", "opCount differs between ranks, as it does from 2.27 on",
     healthy},
    {"healthy_alltoall_uneven", "", "experts: sends and receives of any size, which match",
     healthy_alltoall_uneven},
    {"healthy_late_start", "", "logs begin in mid-run, on all ranks or on some",
     healthy_late_start},
    {"healthy_restart", "", "an attempt hung, the next one is well", healthy},
    {"healthy_harmless_warns", "", "warnings that mean nothing", healthy_harmless_warns},
    {"healthy_cuda_graphs", "", "calls are captured once and replayed in silence",
     healthy_cuda_graphs},
    {"healthy_subset_of_calls", "", "logs copied while the job runs", healthy_subset_of_calls},
    {"healthy_torn_down", "", "it is ended from outside; the driver cleans up after it",
     healthy_torn_down},
    {"healthy_unused_port", "", "a port that nobody uses is down", healthy_unused_port},

    {"rank_behind", "collective.rank_behind", "a rank stops and nothing says why", rank_behind},
    {"collective_stalled", "collective.stalled", "all enter a collective, and it does not end",
     collective_stalled},
    {"segfault", "software.rank_crashed", "a process dies of a bad pointer; its kernel says so",
     segfault, kPrepares, "bystander old"},
    {"collective_skipped_odd", "software.collective_skipped",
     "a rank leaves out a collective that has no like near it", collective_skipped_odd},
    {"collective_skipped_same", "software.collective_skipped",
     "a rank leaves out one of many collectives that look alike", collective_skipped_same},
    {"collective_mismatch_function", "software.collective_mismatch",
     "a rank calls another collective", collective_mismatch_function},
    {"collective_mismatch_count", "software.collective_mismatch", "a rank calls with another count",
     collective_mismatch_count},
    {"collective_mismatch_datatype", "software.collective_mismatch",
     "a rank calls with another datatype", collective_mismatch_datatype},
    {"collective_mismatch_op", "software.collective_mismatch",
     "a rank reduces by another operation; nothing hangs", collective_mismatch_op},
    {"collective_mismatch_root", "software.collective_mismatch", "a rank names another root",
     collective_mismatch_root, kPrepares},
    {"mismatch_two_camps", "software.collective_mismatch", "half of the ranks call something else",
     mismatch_two_camps},
    {"p2p_mismatch_missing_recv", "software.p2p_mismatch", "nobody receives what is sent",
     p2p_mismatch_missing_recv, kPrepares},
    {"p2p_mismatch_size", "software.p2p_mismatch", "more is sent than is to be received",
     p2p_mismatch_size, kPrepares},
    {"p2p_deadlock", "software.p2p_mismatch", "two ranks send to each other before they receive",
     p2p_deadlock, kPrepares},
    {"invalid_usage_root", "software.invalid_usage", "a rank names a root that does not exist",
     invalid_usage_root, kPrepares},
    {"invalid_usage_duplicate_gpu", "software.invalid_usage", "two ranks use one GPU",
     invalid_usage_duplicate_gpu},
    {"version_mismatch", "software.version_mismatch", "a host has another NCCL", version_mismatch},
    {"cuda_oom", "software.cuda_oom", "a GPU's memory is full when channels are set up", cuda_oom},
    {"gpu_memory_fault", "software.gpu_memory_fault", "a kernel accesses an illegal address",
     gpu_memory_fault},

    {"rank_missing", "launch.rank_missing", "a rank never starts", rank_missing},
    {"rank_stuck_in_init", "launch.rank_missing", "a rank begins its init and does not finish it",
     rank_stuck_in_init},
    {"connect_failed", "launch.connect_failed", "a host cannot reach rank 0's", connect_failed},

    {"shm_full", "host.shm_full", "/dev/shm of a host is full", shm_full, kPrepares},
    {"memlock", "host.limits", "a host does not let NCCL lock memory", memlock},
    {"open_files", "host.limits", "processes of a host may not open enough files", open_files},

    {"oom_killed", "host.oom_killed", "the kernel kills a rank for memory", oom_killed, kPrepares,
     "benign bystander old"},
    {"pids_limit", "host.limits", "processes of a host may not start threads", pids_limit,
     kPrepares, "bystander old"},
    {"cpu_lockup", "host.cpu_hang", "a CPU is stuck under a rank", cpu_lockup, kPrepares,
     "bystander benign old"},
    {"storage_stall", "host.storage_stall", "a host's file server stops answering", storage_stall,
     kPrepares, "benign bystander old"},
    {"memory_error", "host.memory_error", "a host's memory breaks under a rank", memory_error,
     kPrepares, "benign bystander old"},
    {"host_reboot", "host.down", "a host starts anew without having been shut down", host_reboot,
     kPrepares, "benign bystander old"},
    {"host_panic", "host.down", "a host's kernel panics", host_panic, kPrepares, "bystander old"},

    {"gpu_off_bus", "gpu.off_bus", "a GPU is gone; the kernel's log says so", gpu_off_bus,
     kPrepares, "benign bystander old"},
    {"gpu_ecc", "gpu.ecc_uncorrectable", "a GPU's memory breaks", gpu_ecc, kPrepares,
     "bystander old benign"},
    {"gpu_row_remap", "gpu.row_remap", "a GPU has no spare memory left", gpu_row_remap, kPrepares,
     "benign bystander old"},
    {"gpu_nvlink", "gpu.nvlink_error", "a link of a GPU fails", gpu_nvlink, kPrepares,
     "benign bystander old"},
    {"gpu_nvswitch", "gpu.nvswitch_error", "a switch between a host's GPUs fails", gpu_nvswitch,
     kPrepares, "benign bystander old"},
    {"gpu_gsp", "gpu.gsp_timeout", "a GPU's firmware stops answering", gpu_gsp, kPrepares,
     "bystander old"},
    {"gpu_hang", "gpu.hang", "a controller of a GPU halts", gpu_hang, kPrepares, "bystander old"},
    {"gpu_page_fault", "software.gpu_memory_fault",
     "a kernel touches what is not its; NCCL does not hear of it", gpu_page_fault, kPrepares,
     "bystander old"},
    {"gpu_thermal", "gpu.thermal", "a GPU is slowed down by heat", gpu_thermal, kPrepares,
     "benign bystander old"},
    {"pcie_error", "pcie.error", "the port above a GPU gives up", pcie_error, kPrepares,
     "benign bystander old"},
    {"pcie_degraded", "pcie.degraded", "a GPU's PCIe link is half as wide as it should be",
     pcie_degraded, kPrepares, "benign bystander"},

    {"transport_error", "network.transport_error", "RDMA between two NICs stops", transport_error},
    {"peer_lost", "network.peer_lost", "a process is killed; its peers' connections close",
     peer_lost, kPrepares},
    {"nic_failure", "network.nic_failure", "a NIC reports that it failed", nic_failure},
    {"link_down", "network.link_down", "a NIC reports that its port went down", link_down},
    {"port_down", "network.link_down", "a port goes down; NCCL only sees that nobody answers",
     port_down, kPrepares, "benign bystander old"},
    {"nic_health", "network.nic_failure", "a NIC's firmware stops; the kernel's log says so",
     nic_health, kPrepares, "benign bystander old"},
    {"link_errors", "network.link_errors", "a port counts damaged data", link_errors, kPrepares,
     "benign bystander old"},
    {"congestion", "network.congestion", "a port drops what it cannot send", congestion, kPrepares,
     "benign bystander old"},
    {"transport_error_clean_ports", "network.transport_error",
     "RDMA between two NICs stops, and their ports count nothing", transport_error_clean_ports,
     kPrepares},
    {"mtu_mismatch", "network.mtu_mismatch", "a host's interface takes shorter packets",
     mtu_mismatch, kPrepares},

    {"network_fallback", "config.network_fallback", "one host talks through sockets",
     network_fallback},
    {"network_fallback_all", "config.network_fallback",
     "all hosts talk through sockets although they have InfiniBand", network_fallback_all},
    {"gdr_disabled", "config.gdr_disabled", "one host has no GPUDirect RDMA", gdr_disabled},
    {"p2p_disabled", "config.p2p_disabled", "GPUs of one host talk through shared memory",
     p2p_disabled},
    {"environment_mismatch", "config.environment_mismatch", "one host has another setting of NCCL",
     environment_mismatch, kPrepares},
    {"hca_set_differs", "config.environment_mismatch", "one host has a NIC less", hca_set_differs},
};

}  // namespace

std::span<const Scenario> scenarios() { return kScenarios; }

const Scenario* scenario_named(std::string_view name) {
  for (const Scenario& scenario : kScenarios)
    if (scenario.name == name) return &scenario;
  return nullptr;
}

}  // namespace faultline::simulation
