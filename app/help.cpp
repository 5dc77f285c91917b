// faultline help, man and completion: the descriptions of the commands, for people and shells.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>

#include "app/commands.h"
#include "app/manual/command_help.h"
#include "app/manual/forms.h"
#include "model/time.h"
#include "service/clock.h"

namespace faultline {
namespace {

// The command with these names below `root`, or `root` itself if no name is given.
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

// Reproducible builds set their time in this way (reproducible-builds.org).
std::string date_of_build() {
  const char* epoch = std::getenv("SOURCE_DATE_EPOCH");
  const Timestamp time = epoch == nullptr
                             ? utc_now()
                             : Timestamp(std::chrono::seconds(std::strtoll(epoch, nullptr, 10)));
  return to_rfc3339(time).substr(0, std::string_view("2026-12-31").size());
}

std::string page_of(const CommandHelp& command, const CommandHelp& root) {
  return to_man_page(command, root, FAULTLINE_VERSION, date_of_build());
}

// Returns the text to print: none.
std::string write_all(const CommandHelp& root, const std::filesystem::path& folder) {
  const auto write = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream file(folder / name);
    if (!(file << text << std::flush))
      throw std::runtime_error((folder / name).string() + ": cannot be written");
  };
  for (const CommandHelp* command : all_of(root))
    write("man/man1/" + page_name(*command) + ".1", page_of(*command, root));
  write("bash-completion/completions/" + root.name, to_bash(root));
  write("fish/vendor_completions.d/" + root.name + ".fish", to_fish(root));
  // Red Hat's zsh looks into the first folder, Debian's into the second.
  for (const char* place : {"zsh/site-functions/_", "zsh/vendor-completions/_"})
    write(place + root.name, to_zsh(root));
  return {};
}

struct HelpOptions {
  std::vector<std::string> command;
  std::string into;
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
      "For this session of bash: source <(faultline completion bash). Packages install the scripts "
      "of all three shells.");

  CLI::App* man = add(
      app, "man", "Print a page of the manual, for man(1)",
      [options](const CommandHelp& root) {
        if (!options->into.empty()) return write_all(root, options->into);
        return page_of(named(root, options->command), root);
      },
      exit_code);
  man->add_option("COMMAND", options->command, "The command that the page is about");
  man->add_option(
      "--into", options->into,
      "Write all pages, and the completions of all shells, into this folder, in the layout "
      "of /usr/share");
  man->group("");  // hidden: only the build uses it

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
