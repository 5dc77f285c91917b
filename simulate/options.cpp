#include "simulate/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulate/scenario.h"
#include "simulate/torch_version.h"
#include "simulate/version.h"
#include "simulate/wrapper.h"

namespace faultline::simulation {
namespace {

constexpr std::pair<Layout, std::string_view> kLayouts[] = {
    {Layout::per_rank, "per-rank"}, {Layout::per_host, "per-host"}, {Layout::merged, "merged"}};

constexpr std::pair<Twin, std::string_view> kTwins[] = {{Twin::usual, "usual"},
                                                        {Twin::old, "old"},
                                                        {Twin::bystander, "bystander"},
                                                        {Twin::benign, "benign"}};

constexpr std::pair<Noise, std::string_view> kNoises[] = {{Noise::none, "none"},
                                                          {Noise::today, "today"},
                                                          {Noise::hours, "hours"},
                                                          {Noise::day, "day"},
                                                          {Noise::undated, "undated"}};

constexpr std::pair<std::string_view, bool Evidence::*> kEvidence[] = {
    {"nccl", &Evidence::nccl},         {"hosts", &Evidence::hosts},
    {"watchdog", &Evidence::watchdog}, {"dumps", &Evidence::dumps},
    {"launcher", &Evidence::launcher},
};
constexpr std::string_view kUsualEvidence = "nccl,hosts";

constexpr int kMostRanks = 65'536;
constexpr int kMostGpus = 16;
constexpr int kMostCommunicators = 64;

std::optional<std::string> trouble(const Options& options) {
  if (scenario_named(options.scenario) == nullptr)
    return fmt::format("no scenario '{}'; --list names them", options.scenario);
  if (options.twin != Twin::usual && !scenario_named(options.scenario)->has(options.twin))
    return fmt::format("scenario '{}' has no twin of the kind '{}'", options.scenario,
                       name_of(options.twin));
  if (!options.also.empty()) {
    const Scenario* also = scenario_named(options.also);
    if (also == nullptr) return fmt::format("no scenario '{}'; --list names them", options.also);
    if (options.also_twin != Twin::usual && !also->has(options.also_twin))
      return fmt::format("scenario '{}' has no twin of the kind '{}'", options.also,
                         name_of(options.also_twin));
  }
  if (closest_version(options.nccl) == nullptr)
    return fmt::format("--nccl '{}' is not a version from 2.7.8 on", options.nccl);
  if (wrapper_named(options.wrapper) == nullptr)
    return fmt::format("no wrapper '{}'; --list names them", options.wrapper);
  if (options.nodes < 1 || options.gpus_per_node < 1 || options.gpus_per_node > kMostGpus ||
      options.nodes > kMostRanks / options.gpus_per_node)
    return fmt::format("a job has 1 to {} ranks, a node 1 to {} GPUs", kMostRanks, kMostGpus);
  if (options.tensor_parallel < 1 || options.gpus_per_node % options.tensor_parallel != 0)
    return fmt::format("--tp {} does not divide the {} GPUs of a node", options.tensor_parallel,
                       options.gpus_per_node);
  const int groups = options.nodes * options.gpus_per_node / options.tensor_parallel;
  if (options.pipeline_parallel < 1 || groups % options.pipeline_parallel != 0)
    return fmt::format("--pp {} does not divide the job's {} tensor-parallel groups",
                       options.pipeline_parallel, groups);
  if (closest_torch(options.torch) == nullptr)
    return fmt::format("--torch '{}' is not a version from 1.13 on", options.torch);
  if (!Evidence::named(options.evidence))
    return fmt::format("--evidence '{}': choose from nccl,hosts,watchdog,dumps,launcher",
                       options.evidence);
  if (options.shown.dumps && closest_torch(options.torch)->schema.empty())
    return fmt::format("PyTorch {} writes no dumps; --torch 2.2 is the first that does",
                       options.torch);
  if (options.recorded < 1) return "a Flight Recorder holds at least one entry";
  if (options.communicators < 0 || options.communicators > kMostCommunicators)
    return fmt::format("a rank has 1 to {} communicators", kMostCommunicators);
  if (options.steps < 4) return "a run has at least 4 steps";
  if (options.attempts < 1 || options.attempts > 20) return "a job has 1 to 20 attempts";
  if (!(options.lose_percent >= 0 && options.lose_percent <= 100))
    return "--lose takes a percentage";
  if (options.torn && (options.layout == Layout::per_rank || options.wrapper != "none" ||
                       !closest_version(options.nccl)->since(13, 4)))
    return "--torn needs ranks that write to one file directly (--layout per-host or merged, no "
           "--wrapper) and NCCL 2.13.4 or later";
  return std::nullopt;
}

}  // namespace

std::optional<Layout> layout_named(std::string_view name) {
  for (const auto& [layout, its_name] : kLayouts)
    if (its_name == name) return layout;
  return std::nullopt;
}

std::string_view name_of(Layout layout) {
  return kLayouts[static_cast<std::size_t>(layout)].second;
}

std::optional<Twin> twin_named(std::string_view name) {
  for (const auto& [twin, its_name] : kTwins)
    if (its_name == name) return twin;
  return std::nullopt;
}

std::string_view name_of(Twin twin) { return kTwins[static_cast<std::size_t>(twin)].second; }

std::optional<Noise> noise_named(std::string_view name) {
  for (const auto& [noise, its_name] : kNoises)
    if (its_name == name) return noise;
  return std::nullopt;
}

std::string_view name_of(Noise noise) { return kNoises[static_cast<std::size_t>(noise)].second; }

std::optional<Evidence> Evidence::named(std::string_view list) {
  Evidence evidence;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    const std::string_view name = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    const auto known =
        std::ranges::find(kEvidence, name, [](const auto& each) { return each.first; });
    if (known == std::end(kEvidence)) return std::nullopt;
    evidence.*known->second = true;
  }
  return evidence;
}

Result<Options> checked(Options options) {
  if (options.tensor_parallel == 0) options.tensor_parallel = std::min(8, options.gpus_per_node);
  if (options.scenario == "healthy_restart") options.attempts = std::max(2, options.attempts);
  if (options.evidence.empty()) {
    options.evidence = kUsualEvidence;
    const Scenario* scenario = scenario_named(options.scenario);
    if (scenario != nullptr && !scenario->needs.empty())
      options.evidence.append(",").append(scenario->needs);
    // Such a fault shows only in which calls have started.
    if (scenario != nullptr && scenario->needs == "dumps") options.timing = true;
  }
  options.shown = Evidence::named(options.evidence).value_or(Evidence{});
  if (const auto wrong = trouble(options)) return Error{Error::Kind::invalid_input, *wrong};
  options.healthy = options.healthy || options.twin != Twin::usual;
  options.also_healthy = options.also_healthy || options.also_twin != Twin::usual;
  return options;
}

}  // namespace faultline::simulation
