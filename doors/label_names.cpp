#include "doors/label_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace faultline {
namespace {

constexpr std::size_t kLongestName = 256;

struct NamedSlot {
  LabelSlot slot;
  std::string_view name;
  bool of_namespace = false;
};

// In each slot the best first. Names are plain.
constexpr NamedSlot kNames[] = {
    {LabelSlot::job, "faultline_job"},
    {LabelSlot::job, "training_kubeflow_org_job_name", true},
    {LabelSlot::job, "jobset_sigs_k8s_io_jobset_name", true},
    {LabelSlot::job, "leaderworkerset_sigs_k8s_io_name", true},
    {LabelSlot::job, "volcano_sh_job_name", true},
    {LabelSlot::job, "ray_io_cluster", true},
    {LabelSlot::job, "batch_kubernetes_io_job_name", true},
    {LabelSlot::job, "k8s_job_name", true},
    {LabelSlot::job, "slurm_job_id"},
    {LabelSlot::job, "slurm_jobid"},
    {LabelSlot::job, "ray_submission_id"},
    {LabelSlot::job, "job_name", true},
    {LabelSlot::job, "job_id"},
    // Prometheus and Promtail call a group of targets a job, so this comes last.
    {LabelSlot::job, "job"},

    {LabelSlot::host, "faultline_host"},
    {LabelSlot::host, "k8s_node_name"},
    {LabelSlot::host, "pod_node_name"},
    {LabelSlot::host, "node_name"},
    {LabelSlot::host, "kubernetes_host"},
    {LabelSlot::host, "slurmd_nodename"},
    {LabelSlot::host, "hostname"},
    {LabelSlot::host, "host_name"},
    {LabelSlot::host, "host_hostname"},
    {LabelSlot::host, "host"},
    {LabelSlot::host, "nodename"},
    {LabelSlot::host, "node"},
    {LabelSlot::host, "agent_hostname"},

    {LabelSlot::rank, "faultline_rank"},
    {LabelSlot::rank, "global_rank"},
    {LabelSlot::rank, "rank"},
    {LabelSlot::rank, "slurm_procid"},

    {LabelSlot::file, "log_file_path"},
    {LabelSlot::file, "filename"},
    {LabelSlot::file, "log_file_name"},
    {LabelSlot::file, "file_path"},
    {LabelSlot::file, "filepath"},
    {LabelSlot::file, "file"},
    {LabelSlot::file, "path"},
    {LabelSlot::file, "source"},
    {LabelSlot::file, "file_name"},

    {LabelSlot::space, "k8s_namespace_name"},
    {LabelSlot::space, "kubernetes_namespace"},
    {LabelSlot::space, "pod_namespace"},
    {LabelSlot::space, "namespace_name"},
    {LabelSlot::space, "namespace"},

    {LabelSlot::pod, "k8s_pod_name"},
    {LabelSlot::pod, "pod_name"},
    {LabelSlot::pod, "pod"},

    {LabelSlot::container, "k8s_container_name"},
    {LabelSlot::container, "container_name"},
    {LabelSlot::container, "container"},

    {LabelSlot::unit, "systemd_unit"},
    {LabelSlot::unit, "unit"},

    {LabelSlot::program, "syslog_identifier"},
    {LabelSlot::program, "syslog_appname"},
    {LabelSlot::program, "appname"},
    {LabelSlot::program, "programname"},
    {LabelSlot::program, "transport"},
};

// What shippers put before the names that a pod or a program gave.
constexpr std::string_view kAround[] = {
    "kubernetes_labels_",
    "kubernetes_pod_labels_",
    "kubernetes_",
    "k8s_pod_labels_",
    "k8s_pod_label_",
    "pod_labels_",
    "pod_label_",
    "labels_",
    "label_",
    "fields_",
    "attributes_",
    "resource_",
    "log_",
    "journal_",
    "environment_",
    "env_",
    "_",
};

char plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '_';
}

std::string_view without_surroundings(std::string_view name) {
  for (const std::string_view around : kAround)
    if (name.size() > around.size() && name.starts_with(around)) return name.substr(around.size());
  return {};
}

}  // namespace

LabelNames::LabelNames() {
  for (std::size_t at = 0; at < std::size(kNames); ++at)
    rows_.push_back({std::string(kNames[at].name), kNames[at].slot, at, kNames[at].of_namespace});
  std::ranges::sort(rows_, {}, &Row::name);
}

const LabelNames::Row* LabelNames::find(std::string_view name) const {
  std::array<char, kLongestName> room{};
  if (name.size() > room.size()) return nullptr;
  const auto end = std::ranges::transform(name, room.begin(), plain).out;
  // Several shippers may have put something before the name, one after the other.
  for (std::string_view rest(room.begin(), end); !rest.empty(); rest = without_surroundings(rest)) {
    const auto row = std::ranges::lower_bound(rows_, rest, {}, &Row::name);
    if (row != rows_.end() && row->name == rest) return &*row;
  }
  return nullptr;
}

}  // namespace faultline
