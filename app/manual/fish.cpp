#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "app/manual/forms.h"

namespace faultline {
namespace {

std::string fish_string(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string offer(const OptionHelp& option) {
  switch (kind_of(option)) {
    case ValueKind::words:
      return fmt::format(" -x -a '{}'", fmt::join(words_of(option), " "));
    case ValueKind::listed:
      return fmt::format(" -x -a '(faultline {} 2>/dev/null)'", listing_of(option));
    case ValueKind::file:
      return " -r -F";
    case ValueKind::folder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::free:
      break;
  }
  return " -x";
}

// The condition that the command line is at this command: behind its name, and before a command
// below it.
std::string condition(const CommandHelp& command, const CommandHelp& root) {
  std::string below;
  for (const CommandHelp& one : command.commands) below += " " + one.name;
  std::string not_yet = "not __fish_seen_subcommand_from" + below;
  if (&command == &root) return not_yet;
  std::string text;
  for (const std::string& name : CLI::detail::split(command.path.substr(root.path.size() + 1), ' '))
    text += fmt::format("{}__fish_seen_subcommand_from {}", text.empty() ? "" : "; and ", name);
  return below.empty() ? text : text + "; and " + not_yet;
}

}  // namespace

std::string to_fish(const CommandHelp& root) {
  std::string text = fmt::format(
      "# Completion of {0} for fish, written by `{0} completion fish`.\ncomplete -c {0} -f\n",
      root.name);
  for (const CommandHelp* command : all_of(root)) {
    const std::string where =
        fmt::format("complete -c {} -n {}", root.name, fish_string(condition(*command, root)));
    for (const CommandHelp& below : command->commands)
      text += fmt::format("{} -a {} -d {}\n", where, below.name, fish_string(below.about));
    for (const OptionHelp& argument : command->positionals)
      if (kind_of(argument) == ValueKind::words)
        text += fmt::format("{} -a '{}'\n", where, fmt::join(words_of(argument), " "));
      else if (kind_of(argument) == ValueKind::listed)
        text += where + offer(argument) + "\n";
      else if (kind_of(argument) != ValueKind::free)
        text += where + " -F\n";
    for (const OptionHelp& option : command->options)
      text += fmt::format("{}{} -l {}{} -d {}\n", where,
                          option.brief.empty() ? "" : " -s " + option.brief.substr(1),
                          option.name.substr(2), option.value.empty() ? "" : offer(option),
                          fish_string(option.about));
  }
  return text;
}

}  // namespace faultline
