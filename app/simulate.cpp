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
  CLI::App* command = app.add_subcommand(
      "simulate", "Write the logs of a made-up job with one fault, to try things with");
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

  text("--scenario", options.scenario, "NAME", "What goes wrong; --list names the scenarios");
  text("--out", arguments->out, "DIR", "The folder to write the logs to");
  flag("--force", arguments->force, "Write to --out although it is not empty");
  flag("--list", arguments->list, "List the scenarios, versions and wrappers, and end");
  choose(text("--format", arguments->format, "", "The form of the list"), {"text", "json"});
  text("--seed", options.seed, "N", "The same seed writes the same bytes");

  group = "The job";
  text("--nodes", options.nodes, "N", "How many hosts it has");
  text("--gpus-per-node", options.gpus_per_node, "N", "How many ranks each host has");
  text("--tp", options.tensor_parallel, "N",
       "How many ranks share a tensor; by default those of a host, 8 at most")
      ->default_str("");
  text("--pp", options.pipeline_parallel, "N", "How many stages its pipeline has");
  text("--communicators", options.communicators, "N",
       "How many communicators each rank has; by default what the parallelism needs")
      ->default_str("");
  text("--steps", options.steps, "N", "How many steps it trains");
  text("--attempts", options.attempts, "N",
       "How often it is started; every attempt but the last hangs");

  group = "The fault";
  flag("--healthy", options.healthy, "Write the same job without its fault");
  choose(text("--twin", arguments->twin, "",
              "How close a --healthy job comes to the fault: not at all, it had it long ago, it "
              "happens to a part that the job does not use, or it does no harm"),
         twins);
  text("--also", options.also, "NAME", "A second scenario in the same job");
  choose(text("--also-twin", arguments->also_twin, "",
              "Write the second one without its fault; the words are those of --twin"),
         twins);

  group = "The logs";
  choose(
      text("--layout", arguments->layout, "", "One file for each rank, for each host, or for all"),
      {"per-rank", "per-host", "merged"});
  text("--evidence", options.evidence, "LIST",
       "Which logs to write, of nccl,hosts,watchdog,dumps,launcher; by default nccl,hosts and what "
       "the scenario needs");
  text("--nccl", options.nccl, "VERSION",
       "Write the lines of this NCCL, or of the next older one that is known");
  text("--torch", options.torch, "VERSION",
       "Write the watchdogs and dumps of this PyTorch, or of the next older one that is known");
  text("--wrapper", options.wrapper, "NAME",
       "What a launcher, a container or a log shipper puts around each line; --list names them");
  flag("--json-dumps", options.json_dumps, "Write Flight Recorder dumps as JSON, not as pickles");
  flag("--timing", options.timing, "Let Flight Recorder dumps tell when operations started");
  text("--recorded", options.recorded, "N", "How many entries a Flight Recorder keeps");
  text("--lose", options.lose_percent, "PERCENT", "Leave out so many of NCCL's lines, by chance");
  flag("--torn", options.torn, "Let processes that share a file cut each other's lines");
  choose(command->add_option_function<std::string>(
             "--noise",
             [arguments](const std::string& name) {
               arguments->options.noise = *simulation::noise_named(name);
             },
             "When the hosts logged trouble that has nothing to do with the job: never, while it "
             "ran, hours or a day before, or at a time that nobody can tell"),
         {"none", "today", "hours", "day", "undated"})
      ->group(group);
  flag("--containers", options.containers,
       "Count process ids from 1 on every host, as in containers");
  flag("!--no-boot", options.booted, "Let kernel logs not begin with the lines of a boot");
  command->footer("Exits 0 when the logs are written, and 2 when they could not be.");
  command->callback([arguments, &exit_code] { exit_code = run_simulate(*arguments); });
}

}  // namespace faultline
