#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "app/commands.h"

namespace faultline {

void add_version_command(CLI::App& app, int& exit_code) {
  app.set_version_flag("--version", "faultline " FAULTLINE_VERSION, "Print the version, and end");
  CLI::App* command = app.add_subcommand("version", "Print the version");
  command->callback([&exit_code] {
    fmt::print("faultline {}\n", FAULTLINE_VERSION);
    exit_code = 0;
  });
}

}  // namespace faultline
