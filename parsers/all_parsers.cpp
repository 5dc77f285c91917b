#include "parsers/gpu/xid_quoted.h"
#include "parsers/infiniband/infiniband_managers.h"
#include "parsers/jax/coordination.h"
#include "parsers/kernel/kernel_host.h"
#include "parsers/kernel/kernel_sxid.h"
#include "parsers/kernel/kernel_xid.h"
#include "parsers/launcher/environment_lines.h"
#include "parsers/launcher/launcher_lines.h"
#include "parsers/launcher/mpi_exits.h"
#include "parsers/launcher/script_lines.h"
#include "parsers/nccl/nccl.h"
#include "parsers/nccl/nccl_failure.h"
#include "parsers/nccl/nccl_inspector.h"
#include "parsers/nccl/ncclras_text.h"
#include "parsers/nccl/proxy_dump.h"
#include "parsers/parser.h"
#include "parsers/parser_choice.h"
#include "parsers/scheduler/slurmctld.h"
#include "parsers/torch/horovod.h"
#include "parsers/torch/torch_reports.h"
#include "parsers/torch/torch_watchdog.h"

#include <iterator>

namespace faultline {
namespace {

constexpr Parser kParsers[] = {
    {"nccl", "NCCL ", parse_nccl},
    {"nccl_tests", " NCCL ", parse_nccl_failure},
    {"kernel", "NVRM: ", parse_nvrm},
    {"kernel", "Linux ", parse_boot},
    {"kernel", "SXid (", parse_sxid},
    {"kernel", "nvidia-", parse_driver_unloading},
    {"kernel", "reboot: ", parse_host_stopping},
    {"kernel", "kvm: exiting", parse_host_stopping},
    {"kernel", "systemd-shutdown[", parse_host_stopping},
    {"kernel", "setting system clock to ", parse_clock},
    {"kernel", "audit: type=2000", parse_clock},
    {"kernel", " kernel messages", parse_lost_lines},
    {"kernel", "printk: ", parse_lost_lines},
    {"fabric_manager", "detected NVSwitch ", parse_fabric_manager},
    {"nccl_inspector", "\"coll_perf\"", parse_nccl_inspector},
    {"nccl_inspector", "\"p2p_perf\"", parse_nccl_inspector},
    {"ncclras", "PEER_", parse_ncclras_event},
    {"nccl_proxy", "ACTIVE OPS", parse_proxy_dump_head},
    {"nccl_proxy", "| ", parse_proxy_operation},
    {"torch", "SeqNum=", parse_torch_timeout},
    {"torch", "Watchdog caught collective", parse_torch_timeout},
    {"torch", "last completed ", parse_torch_status, true},
    {"torch", "a dump signal", parse_torch_dump_signal, true},
    {"torch", "global timeout from ", parse_torch_dump_signal, true},
    {"torch", "signal dumping", parse_torch_dump_signal, true},
    {"torch", " dump signal from ", parse_torch_dump_signal, true},
    {"torch", "got stuck for ", parse_torch_stuck},
    {"torch", "Could not acquire GIL", parse_torch_stuck},
    {"torch", "Heartbeat monitor timed out!", parse_torch_stuck},
    {"torch", " collective", parse_torch_desync, true},
    {"torch", " lagging", parse_torch_desync, true},
    {"torch", "] started ", parse_torch_desync, true},
    {"torch", "] finished ", parse_torch_desync, true},
    {"torch", " failed to pass monitoredBarrier", parse_torch_barrier, true},
    {"torch", " is running collective: ", parse_torch_called, true},
    {"horovod", "[missing ranks:", parse_missing_ranks},
    {"jax", "GetKeyValue() timed out with key: ", parse_jax_key, true},
    {"torch", "not receive grad for rank", parse_torch_unused, true},
    {"torch", "did not get gradient", parse_torch_unused, true},
    {"torchrun", "(exitcode: ", parse_torchrun_agent, true},
    {"torchrun", " process ", parse_torchrun_agent, true},
    {"srun", "srun: error: ", parse_srun_exit, true},
    {"mpirun", "noticed that process rank ", parse_mpirun_exit, true},
    {"mpirun", "][child_handler] MPI process ", parse_mpi_exit, true},
    {"mpirun", " (first noticed rank ", parse_mpi_exit, true},
    {"mpirun", "MPI Application rank ", parse_mpi_exit, true},
    {"mpirun", "MPT ERROR: Rank ", parse_mpi_exit, true},
    {"mpirun", "PE RANK ", parse_mpi_exit, true},
    {"mpirun", "exit status of rank ", parse_mpi_exit, true},
    {"mpirun", "*** Caught a ", parse_mpi_exit, true},
    {"mpirun", ": Received signal SIG", parse_mpi_exit, true},
    {"mpirun", "FATAL: task-exit: ", parse_mpi_exit, true},
    {"sge", " died through signal ", parse_mpi_exit, true},
    {"pals", ": rank ", parse_pals_exit, true},
    {"kubernetes", " exited with code ", parse_pod_exit, true},
    {"deepspeed", " exits with return code = ", parse_deepspeed_exit, true},
    {"deepspeed", " exits successfully.", parse_deepspeed_exit, true},
    {"paddle", " status failed cmd ", parse_paddle_exit, true},
    {"slurmctld", " responding", parse_slurmctld, true},
    {"slurmctld", " rebooted", parse_slurmctld, true},
    {"slurmctld", " set to", parse_slurmctld, true},
    {"slurmctld", "failed node", parse_slurmctld, true},
    {"slurmctld", " state to INVAL", parse_slurmctld, true},
    {"slurmctld", "JobId=", parse_slurmctld, true},
    {"gpu_agent", " detected on ", parse_quoted_xid, true},
    {"gpu_agent", " on Device=", parse_quoted_xid, true},
    {"gpu_agent", "XidCriticalError ", parse_quoted_xid, true},
    {"gpu_agent", "\"entitiesImpacted\"", parse_nvsentinel, true},
    {"gpu_agent", "\"entities_impacted\"", parse_nvsentinel, true},
    {"ufm", "] CRITICAL [", parse_ufm, true},
    {"ufm", "] WARNING [", parse_ufm, true},
    {"ufm", "] MINOR [", parse_ufm, true},
    {"ufm", "] INFO [", parse_ufm, true},
    {"opensm", " port with GUID:", parse_opensm, true},
    {"straggler_report", "avg barrier time ", parse_barrier_time, true},
    {"straggler_report", "traggler ranks detected: ", parse_straggler_ranks},
    {"straggler_report", "STRAGGLER DETECTION WARNING", parse_slow_gpus},
    {"straggler_report", "| MnRtt/Rnk: ", parse_least_and_most},
    {"gpu_watchdog", " gpu_util=", parse_gpu_sample, true},
    {"bandwidth_line", " GB/s, ", parse_bandwidth_line},
    {"shell", ": line ", parse_shell_exit, true},
    {"shell", "(core dumped)", parse_shell_word},
    {"shell", "illed", parse_shell_word, true},
    {"shell", "zsh: ", parse_shell_word, true},
    {"launch", "_world_size", parse_world_size, true},
    {"launch", " world size: ", parse_world_size, true},
    {"launch", "_nodes ", parse_world_size, true},
    {"launch", "nproc_per_node ", parse_world_size, true},
    {"torch", "initialization options: ", parse_torch_settings, true},
    {"torch", " environments: ", parse_torch_settings, true},
    {"torch", "what():  ", parse_cpp_exception, true},
    {"launch", "MEMBER: ", parse_world_size, true},
    {"environment", "NCCL_", parse_environment_line, true},
    {"environment", "TORCH_", parse_environment_line, true},
    {"environment", "WORLD_SIZE", parse_environment_line, true},
    {"environment", "--nnodes", parse_environment_line, true},
    {"environment", "--nproc", parse_environment_line, true},
};
static_assert(std::size(kParsers) <= ParserChoice::kMostParsers);

}  // namespace

std::span<const Parser> all_parsers() { return kParsers; }

}  // namespace faultline
