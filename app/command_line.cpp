#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "app/commands.h"

namespace faultline {
namespace {

constexpr void (*kCommands[])(CLI::App& app, int& exit_code) = {
    add_serve_command,  add_diagnose_command, add_simulate_command, add_rules_command,
    add_alerts_command, add_token_command,    add_backup_command,   add_version_command,
};

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app("Tells why a multi-GPU training job hangs, from its logs.", "faultline");
  // Zero is allowed for CLI11's sake: it would call an unknown command a missing one.
  app.require_subcommand(0, 1);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("faultline: {}\nfaultline --help says more.\n", error.what());
  });
  int exit_code = 0;
  for (const auto add : kCommands) add(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitError;
  } catch (const std::exception& error) {
    fmt::print(stderr, "faultline: {}\n", error.what());
    return kExitError;
  }
  if (!app.get_subcommands().empty()) return exit_code;
  fmt::print(stderr, "{}", app.help());
  return kExitError;
}

}  // namespace faultline
