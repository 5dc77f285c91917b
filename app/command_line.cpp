#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <system_error>

#include "app/commands.h"
#include "app/failure_text.h"
#include "app/manual/command_help.h"
#include "app/manual/forms.h"

namespace faultline {
namespace {

constexpr void (*kCommands[])(CLI::App& app, int& exit_code) = {
    add_serve_command,  add_diagnose_command, add_simulate_command,  add_rules_command,
    add_alerts_command, add_token_command,    add_backup_command,    add_restore_command,
    add_ship_command,   add_guard_command,    add_reanalyze_command, add_version_command,
    add_help_commands,
};

class OurHelp : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    return to_help_text(help_of(*app));
  }
};

// The last command on the command line.
const CLI::App& last_command(const CLI::App& app) {
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().back();
  return *last;
}

std::string meant(const std::string& typed, const std::vector<std::string>& names) {
  const std::string name = nearest(typed, names);
  return name.empty() ? "" : fmt::format("; did you mean {}?", name);
}

std::string name_one_of(const CommandHelp& command) {
  std::vector<std::string> names;
  for (const CommandHelp& below : command.commands) names.push_back(below.name);
  return fmt::format("name a command: {}", fmt::join(names, ", "));
}

// The message for a word that is not allowed at its place.
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

// The required arguments that are missing, by their names in the help.
std::string missing_of(const CLI::App& command) {
  std::vector<std::string> missing;
  for (const CLI::Option* option : command.get_options({}))
    if (option->get_required() && option->count() == 0)
      missing.push_back(option->get_positional() ? option->get_name(true)
                                                 : "--" + option->get_single_name());
  return fmt::format("{} {} required", fmt::join(missing, " and "),
                     missing.size() == 1 ? "is" : "are");
}

// Rewrites CLI11's messages about a value: "--listen: 1 required ADDRESS:PORT missing", "--listen:
// At Most 1 required but received 2", "Could not convert: --nodes = many".
std::string refusal_of_value(const CLI::App& command, const std::string& what) {
  const auto after = [&what](std::string_view words) {
    const std::size_t at = what.find(words);
    return at == std::string::npos ? std::string() : what.substr(at + words.size());
  };
  if (const std::string flag = after("Could not convert: "); !flag.empty()) {
    const std::size_t end = std::min(flag.find(" = "), flag.size());
    return fmt::format("{}: must be a number, not \"{}\"", flag.substr(0, end),
                       flag.substr(std::min(end + 3, flag.size())));
  }
  const std::string flag = what.substr(0, what.find(':'));
  const CLI::Option* option = command.get_option_no_throw(flag);
  if (option == nullptr) return what;
  if (!after("At Most 1 required").empty())
    return fmt::format("{} is given more than once; give it once", flag);
  if (what.find(" required ") != std::string::npos && what.ends_with(" missing"))
    return fmt::format("{} needs a value: {} {}", flag, flag, option->get_type_name());
  return what;
}

std::string refusal_of(const CLI::App& app, const CLI::Error& error) {
  const CommandHelp command = help_of(last_command(app));
  const std::vector<std::string> left = app.remaining(true);
  const bool lost = !left.empty() && (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                                      !command.commands.empty());
  std::string what =
      lost ? refusal_of(left.front(), command) : refusal_of_value(last_command(app), error.what());
  if (!lost && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    what = command.commands.empty() ? missing_of(last_command(app)) : name_one_of(command);
  return fmt::format("{}: {}\n{} --help says more.\n", command.path, what, command.path);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app("Reads the logs of a multi-GPU training job and says why it hangs, fails or is slow",
               "faultline");
  // Zero commands are allowed because CLI11 would otherwise report an unknown command as a missing
  // one.
  app.require_subcommand(0, 1);
  app.set_help_flag("-h,--help", "Print this help, and end");
  app.formatter(std::make_shared<OurHelp>());
  app.failure_message(
      [](const CLI::App* failed, const CLI::Error& error) { return refusal_of(*failed, error); });
  int exit_code = kExitError;
  for (const auto add : kCommands) add(app, exit_code);
  // Set after the commands, which would otherwise inherit the footer.
  app.footer(
      "faultline COMMAND --help explains a command.\n"
      "Exit status: 0 done, 2 could not. diagnose and rules check have more; see their --help.");
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) fmt::print(stderr, "{}", app.help());
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? kExitGood : kExitError;
  } catch (const std::exception& error) {
    // If stdout failed, fmt says what went wrong but not with which file, so the message below is
    // used.
    if (std::ferror(stdout) == 0 || dynamic_cast<const std::system_error*>(&error) == nullptr) {
      fmt::print(stderr, "faultline: {}\n", failure_text(error));
      return kExitError;
    }
  }
  // A full disk shows here at the latest, when the output is flushed.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    fmt::print(stderr, "faultline: the output could not be written to stdout\n");
    return kExitError;
  }
  return exit_code;
}

}  // namespace faultline
