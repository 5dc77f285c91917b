#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "app/commands.h"
#include "app/manual/command_help.h"
#include "app/manual/forms.h"

namespace faultline {
namespace {

constexpr void (*kCommands[])(CLI::App& app, int& exit_code) = {
    add_serve_command,   add_diagnose_command, add_simulate_command, add_rules_command,
    add_alerts_command,  add_token_command,    add_backup_command,   add_reanalyze_command,
    add_version_command, add_help_commands,
};

class OurHelp : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    return to_help_text(help_of(*app));
  }
};

// The command that the line had come to.
const CLI::App& last_command(const CLI::App& app) {
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().back();
  return *last;
}

std::string meant(const std::string& typed, const std::vector<std::string>& names) {
  const std::string name = nearest(typed, names);
  return name.empty() ? "" : fmt::format("; did you mean {}?", name);
}

// What stands where nothing like it can.
std::string refusal_of(const std::string& typed, const CommandHelp& command) {
  std::vector<std::string> names;
  if (typed.starts_with('-')) {
    for (const OptionHelp& option : command.options) names.push_back(option.name);
    const std::string flag = typed.substr(0, typed.find('='));
    return fmt::format("there is no option {}{}", flag, meant(flag, names));
  }
  if (command.commands.empty()) return fmt::format("\"{}\" is one argument too many", typed);
  for (const CommandHelp& below : command.commands) names.push_back(below.name);
  return fmt::format("there is no command \"{}\"{}", typed, meant(typed, names));
}

std::string refusal_of(const CLI::App& app, const CLI::Error& error) {
  const CommandHelp command = help_of(last_command(app));
  const std::vector<std::string> left = app.remaining(true);
  const bool lost = !left.empty() && (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                                      !command.commands.empty());
  std::string what = lost ? refusal_of(left.front(), command) : error.what();
  if (!lost && !command.commands.empty()) what = "one of its commands is missing";
  return fmt::format("{}: {}\n{} --help says more.\n", command.path, what, command.path);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app("Tells from the logs of a multi-GPU training job why it hangs, fails or crawls",
               "faultline");
  // Zero is allowed for CLI11's sake: it would call an unknown command a missing one.
  app.require_subcommand(0, 1);
  app.set_help_flag("-h,--help", "Print this help, and end");
  app.formatter(std::make_shared<OurHelp>());
  app.failure_message(
      [](const CLI::App* failed, const CLI::Error& error) { return refusal_of(*failed, error); });
  int exit_code = kExitError;
  for (const auto add : kCommands) add(app, exit_code);
  // After the commands, which would take it over.
  app.footer(
      "Exits 0 when it did what it was asked to do, and 2 when it could not; diagnose and rules "
      "check tell more.\nfaultline COMMAND --help tells all about a command.");
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) fmt::print(stderr, "{}", app.help());
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? kExitGood : kExitError;
  } catch (const std::exception& error) {
    fmt::print(stderr, "faultline: {}\n", error.what());
    return kExitError;
  }
  // A full disk shows here at the latest.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    fmt::print(stderr, "faultline: what it prints could not be written to stdout\n");
    return kExitError;
  }
  return exit_code;
}

}  // namespace faultline
