#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <filesystem>
#include <memory>

#include "app/commands.h"
#include "model/json.h"
#include "simulate/scenario.h"
#include "simulate/simulate.h"
#include "simulate/torch_version.h"
#include "simulate/version.h"
#include "simulate/wrapper.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  simulation::Options options;
  std::string layout = "per-rank";
  std::string twin = "usual";
  std::string also_twin;
  std::string format = "text";
  fs::path out;
  bool force = false;
  bool list = false;
};

int fail(std::string_view message) {
  fmt::print(stderr, "faultline: {}\n", message);
  return kExitError;
}

void print_list(bool json) {
  if (json) {
    boost::json::array all;
    for (const simulation::Scenario& it : simulation::scenarios())
      all.push_back({{"scenario", it.name}, {"class", it.cause}, {"about", it.about}});
    boost::json::array versions;
    for (const simulation::NcclVersion& it : simulation::nccl_versions())
      versions.emplace_back(it.name);
    boost::json::array wrappers;
    for (const simulation::Wrapper& it : simulation::wrappers())
      wrappers.push_back({{"wrapper", it.name}, {"about", it.about}});
    boost::json::array torch_versions;
    for (const simulation::TorchVersion& it : simulation::torch_versions())
      torch_versions.emplace_back(it.name);
    const boost::json::object list{{"scenarios", all},
                                   {"nccl_versions", versions},
                                   {"torch_versions", torch_versions},
                                   {"wrappers", wrappers}};
    fmt::print("{}\n", pretty(list));
    return;
  }
  fmt::print("Scenarios, the class of what is wrong, and what it is:\n");
  for (const simulation::Scenario& it : simulation::scenarios())
    fmt::print("  {:<29} {:<30} {}\n", it.name, it.cause.empty() ? "-" : it.cause, it.about);
  fmt::print("\nNCCL:");
  for (const simulation::NcclVersion& it : simulation::nccl_versions()) fmt::print(" {}", it.name);
  fmt::print("\n\nPyTorch:");
  for (const simulation::TorchVersion& it : simulation::torch_versions())
    fmt::print(" {}", it.name);
  fmt::print("\n\nWrappers:\n");
  for (const simulation::Wrapper& it : simulation::wrappers())
    fmt::print("  {:<29} {}\n", it.name, it.about);
}

int run_simulate(const Arguments& arguments) {
  if (arguments.list) {
    print_list(arguments.format == "json");
    return 0;
  }
  simulation::Options wanted = arguments.options;
  wanted.layout = *simulation::layout_named(arguments.layout);
  wanted.twin = *simulation::twin_named(arguments.twin);
  if (!arguments.also_twin.empty()) {
    wanted.also_healthy = true;
    wanted.also_twin = *simulation::twin_named(arguments.also_twin);
  }
  const Result<simulation::Options> options = simulation::checked(wanted);
  if (!options) return fail(options.error().message);
  if (arguments.out.empty()) return fail("--out DIR is missing: where the logs are to go");
  std::error_code error;
  if (fs::exists(arguments.out, error) && !arguments.force &&
      !(fs::is_directory(arguments.out, error) && fs::is_empty(arguments.out, error)))
    return fail(fmt::format("{} exists and is not an empty folder; --force writes there anyway",
                            arguments.out.string()));

  simulation::FolderOutput output(arguments.out);
  const simulation::Truth truth = simulation::simulate(*options, output);
  fmt::print("{} files, {} bytes in {}: {}\n", output.files(), output.bytes(),
             arguments.out.string(), truth.cause.empty() ? "healthy" : truth.cause);
  return 0;
}

}  // namespace

void add_simulate_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("simulate", "Write the logs of a synthetic job with one fault");
  const auto arguments = std::make_shared<Arguments>();
  simulation::Options& options = arguments->options;
  command->add_option("--scenario", options.scenario, "What goes wrong; --list names them")
      ->capture_default_str();
  command->add_option("--out", arguments->out, "The folder to write to")->type_name("DIR");
  command->add_option("--nodes", options.nodes, "Hosts of the job")->capture_default_str();
  command->add_option("--gpus-per-node", options.gpus_per_node, "Ranks on each host")
      ->capture_default_str();
  command->add_option("--tp", options.tensor_parallel,
                      "Size of a tensor-parallel group; by default a node, 8 at most");
  command->add_option("--pp", options.pipeline_parallel, "Stages of the pipeline")
      ->capture_default_str();
  command->add_option("--communicators", options.communicators,
                      "Of each rank; by default what the parallelism needs");
  command->add_option("--steps", options.steps, "Training steps")->capture_default_str();
  command->add_option("--attempts", options.attempts, "Starts of the job; all but the last hang")
      ->capture_default_str();
  command->add_option("--nccl", options.nccl, "Whose lines to print; the closest known below it")
      ->capture_default_str();
  command->add_option("--wrapper", options.wrapper, "What stands around them; --list names them")
      ->capture_default_str();
  command->add_option("--layout", arguments->layout, "A file for each rank, each host, or for all")
      ->check(CLI::IsMember({"per-rank", "per-host", "merged"}))
      ->capture_default_str();
  command
      ->add_option("--evidence", options.evidence,
                   "What to write: nccl,hosts,watchdog,dumps,launcher; by default nccl,hosts and "
                   "what the scenario needs besides")
      ->type_name("LIST");
  command
      ->add_option("--torch", options.torch, "Whose watchdogs and dumps; the closest known below")
      ->capture_default_str();
  command->add_flag("--json-dumps", options.json_dumps,
                    "Flight Recorder dumps as JSON, not as pickles");
  command->add_flag("--timing", options.timing, "The Flight Recorder sees starts");
  command->add_option("--recorded", options.recorded, "Entries of a Flight Recorder")
      ->capture_default_str();
  command->add_option("--seed", options.seed, "The same seed writes the same bytes")
      ->capture_default_str();
  command->add_option("--lose", options.lose_percent, "Lines to lose by chance")
      ->type_name("PERCENT");
  command->add_flag("--torn", options.torn, "Cut lines where stdio's blocks end");
  command->add_flag("--healthy", options.healthy, "The same job without its fault");
  command->add_option("--twin", arguments->twin, "--healthy, and in which way it comes close to it")
      ->check(CLI::IsMember({"usual", "old", "bystander", "benign"}))
      ->capture_default_str();
  command->add_option("--also", options.also, "A second scenario in the same job");
  command
      ->add_option("--also-twin", arguments->also_twin,
                   "The second one comes to nothing, and in which way it comes close")
      ->check(CLI::IsMember({"usual", "old", "bystander", "benign"}));
  command
      ->add_option_function<std::string>(
          "--noise",
          [arguments](const std::string& name) {
            arguments->options.noise = *simulation::noise_named(name);
          },
          "When its hosts said what has nothing to do with it")
      ->check(CLI::IsMember({"none", "today", "hours", "day", "undated"}));
  command->add_flag("--containers", options.containers, "Every host counts processes from 1");
  command->add_flag("!--no-boot", options.booted, "Kernel logs do not begin with the boot");
  command->add_flag("--force", arguments->force, "Write to a folder that is not empty");
  command->add_flag("--list", arguments->list, "List scenarios, NCCL versions and wrappers");
  command->add_option("--format", arguments->format, "How to print the list")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([arguments, &exit_code] { exit_code = run_simulate(*arguments); });
}

}  // namespace faultline
