// faultline restore: makes a backup the database of a server that does not run.
#include "store/restore.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "app/commands.h"

namespace faultline {
namespace {

struct RestoreOptions {
  std::string backup;
  std::string data = "./faultline-data";
  bool replace = false;
};

void tell(const RestoreOptions& options, const std::filesystem::path& database) {
  const RestoreTold told = restore(options.backup, database, options.replace);
  // They tell of which jobs of the other database a server died.
  std::error_code ignored;
  std::filesystem::remove(std::filesystem::path(options.data) / kReadingMarks, ignored);
  fmt::print(stderr, "{}: {} jobs, {:.1f} MiB, as in {}\n", database.string(), told.copy.jobs,
             static_cast<double>(told.copy.bytes) / (1 << 20), options.backup);
  if (told.log_is_cut)
    fmt::print(stderr,
               "{}-wal: is damaged: transactions after its first invalid frame are left out; send "
               "those logs again\n",
               options.backup);
  if (!told.put_aside.empty())
    fmt::print(stderr, "{}: the database that was there; delete it when you do not need it\n",
               told.put_aside.string());
}

}  // namespace

void add_restore_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "restore", "Make a backup the database of a server; stop the server first");
  auto options = std::make_shared<RestoreOptions>();
  command->add_option("FILE,--from", options->backup, "The file that faultline backup wrote")
      ->required()
      ->type_name("FILE");
  command->add_option("--data", options->data, "The folder that the server is given as --data")
      ->type_name("DIR")
      ->capture_default_str();
  command->add_flag("--replace", options->replace,
                    "If the folder has a database, put it aside; it is renamed, not deleted");
  command->footer(
      "Every page of FILE is checked before anything is changed. FILE stays as it is.\n"
      "If root restores it, the database belongs to the owner of the folder.\n"
      "Under systemd:\n"
      "  systemctl stop faultline\n"
      "  faultline restore FILE --data /var/lib/faultline --replace\n"
      "  systemctl start faultline");
  command->callback([options, &exit_code] {
    try {
      tell(*options, std::filesystem::path(options->data) / kDatabase);
      exit_code = kExitGood;
    } catch (const std::exception& failure) {
      fmt::print(stderr, "faultline: {}\n", failure.what());
      exit_code = kExitError;
    }
  });
}

}  // namespace faultline
