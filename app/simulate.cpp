#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <filesystem>
#include <memory>

#include "app/commands.h"
#include "app/manual/command_help.h"
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

void print_list(std::string_view format) {
  if (format == "names") {
    for (const simulation::Scenario& it : simulation::scenarios()) fmt::print("{}\n", it.name);
    return;
  }
  if (format == "json") {
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
  fmt::print("Scenarios, the class of the fault, and what it is:\n");
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
    print_list(arguments.format);
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
  if (arguments.out.empty()) return fail("--out DIR is missing: the folder for the logs");
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
  CLI::App* command = app.add_subcommand(
      "simulate", "Write the logs of a made-up job with a known fault, to try things out");
  const auto arguments = std::make_shared<Arguments>();
  simulation::Options& options = arguments->options;
  const char* group = "Options";
  const auto text = [&](const char* name, auto& value, const char* type, const char* about) {
    CLI::Option* option = command->add_option(name, value, about);
    return option->type_name(type)->group(group)->capture_default_str();
  };
  const auto flag = [&](const char* name, bool& value, const char* about) {
    command->add_flag(name, value, about)->group(group);
  };
  const std::vector<std::string> twins{"usual", "old", "bystander", "benign"};

  text("--scenario", options.scenario, "SCENARIO", "What goes wrong; --list names the scenarios");
  text(
      "--out", arguments->out, "DIR",
      "The folder to write to: DIR/logs, and DIR/truth.json, which says what is wrong in the logs");
  flag("--force", arguments->force, "Write even if the folder of --out is not empty");
  flag("--list", arguments->list, "List the scenarios, versions and wrappers, and end");
  choose(text("--format", arguments->format, "",
              "How to print the list; names: only names of scenarios, one a line"),
         {"text", "json", "names"});
  text("--seed", options.seed, "N",
       "The seed of random choices; the same seed writes the same bytes");

  group = "The job";
  text("--nodes", options.nodes, "N", "Hosts of the job");
  text("--gpus-per-node", options.gpus_per_node, "N",
       "GPUs of each host, which is also its number of ranks");
  text("--tp", options.tensor_parallel, "N",
       "Tensor-parallel size; by default the ranks of a host, at most 8")
      ->default_str("");
  text("--pp", options.pipeline_parallel, "N", "Pipeline-parallel size");
  text("--communicators", options.communicators, "N",
       "Communicators of each rank; by default what the parallelism needs")
      ->default_str("");
  text("--steps", options.steps, "N", "Training steps");
  text("--attempts", options.attempts, "N",
       "How often the job is started; every attempt but the last hangs");

  group = "The fault";
  flag("--healthy", options.healthy,
       "Write the same job without the fault, to check that nothing is found");
  choose(
      text("--twin", arguments->twin, "",
           "Which signs of the fault the logs of a --healthy job still hold. usual: those of the "
           "first kind that the scenario has, or none; old: it happened long before; bystander: "
           "it hit a part that this job does not use; benign: harmless lines that look like it"),
      twins);
  text("--also", options.also, "SCENARIO", "A second scenario in the same job");
  choose(text("--also-twin", arguments->also_twin, "",
              "Leave out the fault of the second scenario, too, and write the signs of this kind "
              "of twin"),
         twins);

  group = "The logs";
  choose(
      text("--layout", arguments->layout, "", "One file for each rank, each host, or all of them"),
      {"per-rank", "per-host", "merged"});
  text("--evidence", options.evidence, "LIST",
       "Which logs to write: some of nccl,hosts,watchdog,dumps,launcher with commas between; by "
       "default nccl,hosts and what the scenario needs");
  text("--nccl", options.nccl, "VERSION",
       "Write lines like this version of NCCL, or like the next older one in --list");
  text("--torch", options.torch, "VERSION",
       "Write watchdogs and dumps like this version of PyTorch, or like the next older one in "
       "--list");
  text("--wrapper", options.wrapper, "NAME",
       "What a launcher, a container or a log shipper adds to each line; --list names them");
  flag("--json-dumps", options.json_dumps,
       "Write Flight Recorder dumps as JSON instead of pickles");
  flag("--timing", options.timing, "Record in Flight Recorder dumps when operations started");
  text("--recorded", options.recorded, "N", "Entries that a Flight Recorder keeps");
  text("--lose", options.lose_percent, "PERCENT", "Drop this percentage of NCCL's lines at random");
  flag("--torn", options.torn, "Let processes that write to one file break each other's lines");
  choose(command->add_option_function<std::string>(
             "--noise",
             [arguments](const std::string& name) {
               arguments->options.noise = *simulation::noise_named(name);
             },
             "Add kernel errors that have nothing to do with the job. none: no such lines; today: "
             "while it ran; hours, day: hours or a day before; undated: at an unknown time"),
         {"none", "today", "hours", "day", "undated"})
      ->group(group);
  flag("--containers", options.containers,
       "Number the processes of each host from 1, as containers do");
  flag("!--no-boot", options.booted,
       "Leave out the lines of a boot at the beginning of kernel logs");
  command->footer("Exit status: 0 the logs are written, 2 they could not be written.");
  command->callback([arguments, &exit_code] { exit_code = run_simulate(*arguments); });
}

}  // namespace faultline
