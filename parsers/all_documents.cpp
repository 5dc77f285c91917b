#include "parsers/document.h"
#include "parsers/gpu/amd_smi.h"
#include "parsers/gpu/amd_smi_table.h"
#include "parsers/gpu/dcgm_exporter.h"
#include "parsers/gpu/dcgmi_diag.h"
#include "parsers/gpu/dcgmi_dmon.h"
#include "parsers/gpu/dcgmi_health.h"
#include "parsers/gpu/dcgmi_nvlink.h"
#include "parsers/gpu/nhc.h"
#include "parsers/gpu/nvidia_smi_csv.h"
#include "parsers/gpu/nvidia_smi_error.h"
#include "parsers/gpu/nvidia_smi_nvlink.h"
#include "parsers/gpu/nvidia_smi_q.h"
#include "parsers/gpu/nvidia_smi_table.h"
#include "parsers/gpu/nvidia_smi_topo.h"
#include "parsers/gpu/nvidia_smi_xml.h"
#include "parsers/gpu/nvsm.h"
#include "parsers/gpu/rocm_smi.h"
#include "parsers/jax/coordination.h"
#include "parsers/json/json_document.h"
#include "parsers/kubernetes/kubectl.h"
#include "parsers/kubernetes/kubernetes_yaml.h"
#include "parsers/launcher/hydra_table.h"
#include "parsers/launcher/launcher_table.h"
#include "parsers/launcher/mpirun_table.h"
#include "parsers/nccl/ncclras_text.h"
#include "parsers/network/ip_link.h"
#include "parsers/network/iperf3_text.h"
#include "parsers/network/nc.h"
#include "parsers/network/ping.h"
#include "parsers/network/tcp_statistics.h"
#include "parsers/network/tcpdump.h"
#include "parsers/network/tshark.h"
#include "parsers/performance/mpi_benchmark.h"
#include "parsers/performance/nccl_tests.h"
#include "parsers/performance/nsys.h"
#include "parsers/performance/ps.h"
#include "parsers/scheduler/scontrol.h"
#include "parsers/scheduler/slurm_table.h"
#include "parsers/system/df.h"
#include "parsers/system/lspci.h"
#include "parsers/system/smartctl.h"
#include "parsers/system/systemctl.h"
#include "parsers/tool/tool_transcript.h"
#include "parsers/torch/fr_report.h"
#include "parsers/torch/fr_table.h"
#include "parsers/torch/horovod.h"
#include "parsers/torch/notebook_traceback.h"
#include "parsers/torch/python_traceback.h"
#include "parsers/torch/stack_dump.h"
#include "parsers/training/rank_timers.h"
#include "parsers/training/training_steps.h"

namespace faultline {
namespace {

constexpr DocumentFormat kFormats[] = {
    {"ncclras", begins_ncclras_text, make_ncclras_text, "JC#"},
    {"json", begins_json_document, make_json_document, "{["},
    {"nvidia-smi", begins_nvidia_smi_table, make_nvidia_smi_table, "|FMSTW"},
    {"nvidia-smi-q", begins_nvidia_smi_q, make_nvidia_smi_q, "=GCEFR"},
    {"nvidia-smi-xml", begins_nvidia_smi_xml, make_nvidia_smi_xml, "<"},
    {"nvidia-smi-csv", begins_nvidia_smi_csv, make_nvidia_smi_csv},
    {"nvidia-smi-nvlink", begins_nvidia_smi_nvlink, make_nvidia_smi_nvlink, "G"},
    {"mpi-benchmark", begins_mpi_benchmark, make_mpi_benchmark, "#"},
    {"nccl-tests", begins_nccl_tests, make_nccl_tests, "#nCNROASsBbMmt0123456789"},
    {"nvidia-smi-topo", begins_nvidia_smi_topo, make_nvidia_smi_topo, "G"},
    {"nvidia-smi-error", begins_nvidia_smi_error, make_nvidia_smi_error, "UNFG"},
    {"nvidia-smi-dmon", begins_nvidia_smi_dmon, make_nvidia_smi_dmon, "#"},
    {"dcgmi-diag", begins_dcgmi_diag, make_dcgmi_diag, "S|+"},
    {"dcgmi-health", begins_dcgmi_health, make_dcgmi_health, "|E"},
    {"dcgmi-nvlink", begins_dcgmi_nvlink, make_dcgmi_nvlink, "|"},
    {"dcgmi-dmon", begins_dcgmi_dmon, make_dcgmi_dmon, "#"},
    {"dcgm-exporter", begins_dcgm_exporter, make_dcgm_exporter, "#D"},
    {"amd-smi", begins_amd_smi, make_amd_smi, "GNCEPTXURDLMSHV"},
    {"amd-smi-table", begins_amd_smi_table, make_amd_smi_table, "|GTX"},
    {"rocm-smi", begins_rocm_smi, make_rocm_smi, "=G"},
    {"iperf3", begins_iperf3_text, make_iperf3_text, "CAi["},
    {"ping", begins_ping, make_ping, "Pp-0123456789"},
    {"ip-link", begins_ip_link, make_ip_link, "0123456789"},
    {"nc", begins_nc, make_nc, "nC"},
    {"df", begins_df, make_df, "F"},
    {"smartctl", begins_smartctl, make_smartctl, "s="},
    {"lspci", begins_lspci, make_lspci, "0123456789abcdef"},
    {"systemctl", begins_systemctl, make_systemctl, "\xe2\xc3*x"},
    {"nhc", begins_nhc, make_nhc, "EN"},
    {"nvsm", begins_nvsm, make_nvsm, "BCFGNPSUV"},
    {"nsys", begins_nsys, make_nsys, "T"},
    {"ps", begins_ps, make_ps, "%ABCDEFGILNPRSTUVW"},
    {"tcpdump", begins_tcpdump, make_tcpdump, "0123456789Itl"},
    {"tcp-statistics", begins_tcp_statistics, make_tcp_statistics, "T0123456789"},
    {"tshark", begins_tshark, make_tshark, "|TUEWNC"},
    {"sacct", begins_sacct, make_sacct, "|ACDEFGJLMNPQRSTUVW"},
    {"sinfo", begins_sinfo, make_sinfo, "|ACFGHMNPRSTUW"},
    {"scontrol", begins_scontrol, make_scontrol, "JN"},
    {"kubectl", begins_kubectl, make_kubectl, "NLSTW<0123456789"},
    {"kubectl-yaml", begins_kubernetes_yaml, make_kubernetes_yaml, "ac-"},
    {"python-traceback", begins_python_traceback, make_python_traceback},
    {"notebook-traceback", begins_notebook_traceback, make_notebook_traceback},
    {"launcher-table", begins_launcher_table, make_launcher_table, "FR"},
    {"mpirun-table", begins_mpirun_table, make_mpirun_table, "P"},
    {"hydra-table", begins_hydra_table, make_hydra_table, "="},
    {"torchfrtrace", begins_fr_report, make_fr_report, "NC"},
    {"torchfrtrace-table", begins_fr_table, make_fr_table, "R"},
    {"horovod-stall", begins_stalled_ranks, make_stalled_ranks, "MS"},
    {"jax-tasks", begins_jax_tasks, make_jax_tasks, "#BDEFIOTUWXjx"},
    {"stack-dump", begins_stack_dump, make_stack_dump, "TCP=#"},
    {"megatron-timers", begins_rank_timers, make_rank_timers, "t"},
    {"tools", begins_tool_transcript, make_tool_transcript},
    {.name = "training",
     .begins = begins_training_steps,
     .create = make_training_steps,
     .beside = true},
};

}  // namespace

std::span<const DocumentFormat> all_documents() { return kFormats; }

}  // namespace faultline
