// faultline help, man and completion: what the commands say of themselves, for people and shells.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "app/commands.h"
#include "app/manual/command_help.h"
#include "app/manual/forms.h"
#include "model/time.h"

namespace faultline {
namespace {

// The command of that name below another, or the other itself where no name is given.
const CommandHelp& named(const CommandHelp& root, const std::vector<std::string>& names) {
  const CommandHelp* command = &root;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(command->commands, name, &CommandHelp::name);
    if (found == command->commands.end())
      throw std::runtime_error(fmt::format("{} has no command \"{}\"; {} --help names them",
                                           command->path, name, command->path));
    command = &*found;
  }
  return *command;
}

// Builds that are to come out the same give their time in this way (reproducible-builds.org).
std::string date_of_build() {
  const char* epoch = std::getenv("SOURCE_DATE_EPOCH");
  const Timestamp time = epoch == nullptr
                             ? utc_now()
                             : Timestamp(std::chrono::seconds(std::strtoll(epoch, nullptr, 10)));
  return to_rfc3339(time).substr(0, std::string_view("2026-12-31").size());
}

struct HelpOptions {
  std::vector<std::string> command;
  std::string shell;
};

CLI::App* add(CLI::App& app, const std::string& name, const std::string& about,
              const std::function<std::string(const CommandHelp& root)>& written, int& exit_code) {
  CLI::App* command = app.add_subcommand(name, about);
  command->callback([&app, written, &exit_code] {
    try {
      fmt::print("{}", written(help_of(app)));
      exit_code = kExitGood;
    } catch (const std::exception& failure) {
      fmt::print(stderr, "faultline: {}\n", failure.what());
      exit_code = kExitError;
    }
  });
  return command;
}

}  // namespace

void add_help_commands(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<HelpOptions>();
  CLI::App* completion = add(
      app, "completion", "Print the completion script for a shell",
      [options](const CommandHelp& root) {
        if (options->shell == "bash") return to_bash(root);
        return options->shell == "zsh" ? to_zsh(root) : to_fish(root);
      },
      exit_code);
  choose(completion->add_option("SHELL", options->shell, "bash, zsh or fish")->required(),
         {"bash", "zsh", "fish"});
  completion->footer(
      "For this session of bash: source <(faultline completion bash). Packages install all three.");

  CLI::App* man = add(
      app, "man", "Print a page of the manual, for man(1)",
      [options](const CommandHelp& root) {
        return to_man_page(named(root, options->command), root, FAULTLINE_VERSION, date_of_build());
      },
      exit_code);
  man->add_option("COMMAND", options->command, "The command that it is about");
  man->group("");  // the build asks for it

  CLI::App* help = add(
      app, "help", "Print the help of a command, as its --help does",
      [options](const CommandHelp& root) { return to_help_text(named(root, options->command)); },
      exit_code);
  CLI::Option* of = help->add_option("COMMAND", options->command, "The command");
  std::vector<std::string> names;
  for (const CommandHelp& command : help_of(app).commands) names.push_back(command.name);
  of->type_name(CLI::detail::join(names, "|"));
}

}  // namespace faultline
