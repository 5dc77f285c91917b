// faultline backup: a copy of what a server keeps, taken while it runs.
#include "store/backup.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>

#include "app/commands.h"

namespace faultline {
namespace {

struct BackupOptions {
  std::string data = "./faultline-data";
  std::string copy;
};

}  // namespace

void add_backup_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "backup", "Copy the database of a server into one file, while the server runs or not");
  auto options = std::make_shared<BackupOptions>();
  command->add_option("--data", options->data, "The folder that the server was given as --data")
      ->type_name("DIR")
      ->capture_default_str();
  command->add_option("FILE,--to", options->copy, "The file to write; it must not exist yet")
      ->required()
      ->type_name("FILE");
  command->callback([options, &exit_code] {
    try {
      const CopyTold told =
          back_up(std::filesystem::path(options->data) / kDatabase, options->copy);
      fmt::print(stderr,
                 "{0}: {1} jobs, {2:.1f} MiB; to restore it, stop the server and run faultline "
                 "restore {0} --data DIR\n",
                 options->copy, told.jobs, static_cast<double>(told.bytes) / (1 << 20));
      exit_code = kExitGood;
    } catch (const std::exception& failure) {
      fmt::print(stderr, "faultline: {}\n", failure.what());
      exit_code = kExitError;
    }
  });
}

}  // namespace faultline
