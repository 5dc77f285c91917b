#include "accuracy/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "simulate/chance.h"
#include "simulate/scenario.h"

namespace faultline::accuracy {
namespace {

using simulation::Layout;
using simulation::Options;
using simulation::Scenario;
using simulation::Twin;

constexpr Twin kKinds[] = {Twin::old, Twin::bystander, Twin::benign};

struct Pair {
  const char* scenario;
  const char* also;
};

// A fault, and a second one that has nothing to do with it.
constexpr Pair kBesides[] = {
    {"rank_behind", "gpu_ecc"},
    {"rank_behind", "gpu_off_bus"},
    {"collective_skipped_odd", "gpu_nvlink"},
    {"collective_mismatch_count", "port_down"},
    {"p2p_mismatch_size", "oom_killed"},
    {"gpu_off_bus", "port_down"},
    {"gpu_ecc", "nic_health"},
    {"oom_killed", "gpu_hang"},
    {"transport_error", "gpu_gsp"},
    {"port_down", "gpu_row_remap"},
    {"storage_stall", "cpu_lockup"},
    {"rank_missing", "gpu_ecc"},
    {"collective_stalled", "gpu_off_bus"},
    {"version_mismatch", "gpu_nvlink"},
    {"cuda_oom", "oom_killed"},
    {"connect_failed", "port_down"},
    {"network_fallback", "port_down"},
    {"gdr_disabled", "nic_health"},
    {"p2p_disabled", "gpu_nvlink"},
    {"unused_parameters", "gpu_hang"},
    {"straggler_profiled", "port_down"},
    {"communication_bound", "gpu_ecc"},
    {"bandwidth_low_host", "gpu_nvlink"},
    {"wrong_results", "oom_killed"},
};

constexpr Pair kNoise[] = {
    {"rank_behind", "healthy_torn_down"},      {"collective_skipped_odd", "healthy_torn_down"},
    {"gpu_nvlink", "healthy_torn_down"},       {"oom_killed", "healthy_torn_down"},
    {"port_down", "healthy_torn_down"},        {"transport_error", "healthy_harmless_warns"},
    {"gpu_off_bus", "healthy_harmless_warns"}, {"straggler_reported", "healthy_harmless_warns"},
    {"wrong_results", "healthy_torn_down"},
};
constexpr Pair kBenign[] = {
    {"rank_behind", "gpu_off_bus"},
    {"collective_mismatch_count", "memory_error"},
    {"gpu_gsp", "port_down"},
    {"link_down", "gpu_row_remap"},
    {"oom_killed", "gpu_nvlink"},
    {"straggler_profiled", "gpu_thermal"},
    {"bandwidth_low_network", "link_errors"},
};

// Pairs of independent faults. A stuck CPU is not among them: in a job that already stands still it
// might be a consequence.
constexpr Pair kTwoCauses[] = {
    {"gpu_off_bus", "port_down"},    {"gpu_ecc", "oom_killed"},
    {"gpu_gsp", "host_reboot"},      {"gpu_nvlink", "host_panic"},
    {"nic_health", "memory_error"},  {"memory_error", "gpu_hang"},
    {"gpu_row_remap", "oom_killed"}, {"host_panic", "gpu_ecc"},
    {"wrong_results", "oom_killed"}, {"bandwidth_low_host", "gpu_off_bus"},
};

constexpr const char* kHalfOfHosts[] = {"rank_behind",       "gpu_off_bus",
                                        "oom_killed",        "port_down",
                                        "transport_error",   "collective_skipped_odd",
                                        "straggler_profiled"};
constexpr const char* kHalfOfLines[] = {
    "rank_behind",     "gpu_off_bus", "oom_killed",        "collective_mismatch_count",
    "transport_error", "healthy",     "unused_parameters", "bandwidth_low_host"};
constexpr const char* kOnlyTheStop[] = {"gpu_off_bus", "gpu_ecc",       "gpu_hang",   "oom_killed",
                                        "cpu_lockup",  "storage_stall", "host_reboot"};
constexpr const char* kNoCalls[] = {"rank_behind", "collective_skipped_odd", "gpu_off_bus",
                                    "port_down", "straggler_reported"};

constexpr const char* kAmongNoise[] = {
    "healthy",   "rank_behind",        "collective_stalled", "collective_skipped_odd",
    "gpu_ecc",   "data_loader_error",  "oom_killed",         "transport_error",
    "port_down", "straggler_reported", "storage_stall",      "cuda_oom",
    "segfault",  "rank_missing",       "gpu_nvlink",         "collective_mismatch_count"};
constexpr const char* kWithoutBoot[] = {"gpu_off_bus", "gpu_ecc",    "oom_killed", "port_down",
                                        "cpu_lockup",  "host_panic", "healthy"};
constexpr const char* kInPods[] = {
    "rank_behind",        "data_loader_error", "segfault",
    "oom_killed",         "gpu_off_bus",       "cuda_oom",
    "invalid_usage_root", "healthy",           "collective_mismatch_count"};
constexpr const char* kExcerpts[] = {
    "healthy",    "rank_behind", "collective_stalled", "gpu_ecc",
    "oom_killed", "port_down",   "gpu_nvlink",         "collective_mismatch_count"};
constexpr const char* kDeaths[] = {"data_loader_error", "segfault", "oom_killed", "cuda_oom",
                                   "gpu_memory_fault"};
constexpr const char* kHangs[] = {"rank_behind", "collective_stalled", "collective_skipped_odd",
                                  "gpu_off_bus"};

Options of(std::string scenario) {
  Options options;
  options.scenario = std::move(scenario);
  return options;
}

Family beside(const Pair& pair, Group group, Twin twin) {
  Options options = of(pair.scenario);
  options.also = pair.also;
  options.also_twin = twin;
  return {fmt::format("{}, {} {}", pair.scenario, name_of(group), pair.also), group, options};
}

void add_healthy(std::vector<Family>& all) {
  for (const Scenario& scenario : simulation::scenarios())
    if (scenario.cause.empty())
      all.push_back({std::string(scenario.name), Group::healthy, of(std::string(scenario.name))});
  for (const Scenario& scenario : simulation::scenarios()) {
    if (scenario.cause.empty()) continue;
    Options options = of(std::string(scenario.name));
    options.healthy = true;
    if (scenario.prepares)
      all.push_back({fmt::format("{}, without it", scenario.name), Group::twin, options});
    for (const Twin kind : kKinds) {
      if (!scenario.has(kind)) continue;
      options.twin = kind;
      all.push_back(
          {fmt::format("{}, {}", scenario.name, simulation::name_of(kind)), Group::twin, options});
    }
  }
}

void add_misled(std::vector<Family>& all) {
  for (const Pair& pair : kBesides) {
    all.push_back(beside(pair, Group::bystander, Twin::bystander));
    all.push_back(beside(pair, Group::old, Twin::old));
  }
  for (const Pair& pair : kNoise) all.push_back(beside(pair, Group::noise, Twin::usual));
  for (const Pair& pair : kBenign) all.push_back(beside(pair, Group::noise, Twin::benign));
  for (const Pair& pair : kTwoCauses) all.push_back(beside(pair, Group::two_causes, Twin::usual));
}

void add_incomplete(std::vector<Family>& all) {
  for (const char* scenario : kHalfOfHosts)
    all.push_back({fmt::format("{}, half of the hosts", scenario), Group::incomplete, of(scenario),
                   Loss::half_of_hosts});
  for (const char* scenario : kHalfOfLines) {
    Options options = of(scenario);
    options.lose_percent = 50;
    all.push_back({fmt::format("{}, half of the lines", scenario), Group::incomplete, options});
  }
  for (const char* scenario : kOnlyTheStop)
    all.push_back({fmt::format("{}, hosts say nothing", scenario), Group::unexplained, of(scenario),
                   Loss::told_by_hosts});
  for (const char* scenario : kNoCalls)
    all.push_back(
        {fmt::format("{}, no calls", scenario), Group::unexplained, of(scenario), Loss::calls});
}

// Logs as people send them: with other lines beside the job's, or with parts missing.
void add_as_sent(std::vector<Family>& all) {
  for (const simulation::Noise noise : kNoisy)
    for (const char* scenario : kAmongNoise) {
      Options options = of(scenario);
      options.noise = noise;
      all.push_back({fmt::format("{}, kernels say more ({})", scenario, simulation::name_of(noise)),
                     Group::kernels, options});
    }
  for (const char* scenario : kWithoutBoot) {
    Options options = of(scenario);
    options.booted = false;
    all.push_back({fmt::format("{}, without the boot", scenario), Group::no_boot, options});
  }
  for (const char* scenario : kInPods) {
    Options options = of(scenario);
    options.containers = true;
    all.push_back({fmt::format("{}, in pods", scenario), Group::pods, options});
  }
  for (const char* scenario : kExcerpts)
    all.push_back(
        {fmt::format("{}, excerpt", scenario), Group::excerpt, of(scenario), Loss::but_the_middle});
  for (const bool death : {true, false})
    for (const char* scenario : death ? std::span<const char* const>(kDeaths) : kHangs) {
      Options options = of(scenario);
      options.evidence = death ? "nccl,hosts,watchdog,launcher" : "nccl,hosts";
      all.push_back(
          {fmt::format("{}, {}", scenario, death ? "a death" : "a hang"), Group::ending, options});
    }
}

struct Shape {
  int nodes, gpus, tensor, pipeline, steps;
};
constexpr Shape kShapes[] = {{2, 8, 8, 1, 12}, {2, 4, 4, 1, 12}, {4, 8, 8, 2, 9},
                             {4, 4, 2, 1, 10}, {3, 8, 8, 1, 9},  {8, 8, 8, 2, 6},
                             {2, 8, 4, 1, 14}, {6, 4, 4, 2, 9},  {16, 8, 8, 4, 4}};
constexpr const char* kVersions[] = {"2.12.12", "2.18.3", "2.21.5", "2.23.4",
                                     "2.27.7",  "2.30.7", "2.7.8"};
// The first kDated wrappers give every line a time.
constexpr const char* kWrappers[] = {"cri",   "docker", "kubectl", "syslog",   "journal", "none",
                                     "slurm", "none",   "mpirun",  "torchrun", "none",    "ray"};
constexpr std::size_t kDated = 5;
constexpr Layout kLayouts[] = {Layout::per_rank, Layout::per_host, Layout::merged};

bool is_old(const Family& family) {
  return family.options.twin == Twin::old || family.options.also_twin == Twin::old;
}

}  // namespace

std::string_view name_of(Group group) {
  constexpr std::string_view kNames[] = {
      "healthy",     "twin",   "fault",   "bystander", "old",  "noise",   "incomplete",
      "unexplained", "beside", "kernels", "no boot",   "pods", "excerpt", "ending"};
  return kNames[static_cast<std::size_t>(group)];
}

std::vector<Family> families() {
  std::vector<Family> all;
  for (const Scenario& scenario : simulation::scenarios())
    if (!scenario.cause.empty())
      all.push_back({std::string(scenario.name), Group::fault, of(std::string(scenario.name))});
  add_healthy(all);
  add_misled(all);
  add_incomplete(all);
  add_as_sent(all);
  return all;
}

simulation::Options options_of(const Family& family, std::uint64_t seed) {
  std::uint64_t drawn = seed;
  for (const char c : family.name) drawn = simulation::mixed(drawn ^ static_cast<unsigned char>(c));
  simulation::Chance chance(drawn);
  Options options = family.options;
  options.seed = seed;
  const Shape& shape = kShapes[chance.below(std::size(kShapes))];
  options.nodes = shape.nodes;
  options.gpus_per_node = shape.gpus;
  options.tensor_parallel = shape.tensor;
  options.pipeline_parallel = shape.pipeline;
  options.steps = shape.steps;
  options.nccl = kVersions[chance.below(std::size(kVersions))];
  // Only lines with a time show whether a fault is older than the job.
  options.wrapper = kWrappers[chance.below(is_old(family) ? kDated : std::size(kWrappers))];
  // The logs of a host can be missing only if no file holds several hosts.
  options.layout = kLayouts[chance.below(family.loss == Loss::half_of_hosts ? 2 : 3)];
  return simulation::checked(options).value();
}

}  // namespace faultline::accuracy
