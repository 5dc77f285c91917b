#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/manual/forms.h"

namespace faultline {
namespace {

// Within single quotes, where _arguments reads brackets and colons.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (c == '[' || c == ']' || c == ':' || c == '\\')
      out += std::string{'\\', c};
    else
      out += c;
  }
  return out;
}

std::string offer(const OptionHelp& option) {
  switch (kind_of(option)) {
    case ValueKind::words:
      return fmt::format("({})", fmt::join(words_of(option), " "));
    case ValueKind::listed:
      return fmt::format("($(faultline {} 2>/dev/null))", listing_of(option));
    case ValueKind::file:
      return "_files";
    case ValueKind::folder:
      return "_files -/";
    case ValueKind::free:
      break;
  }
  return "";
}

std::string function_name(const CommandHelp& command) {
  std::string name = "_" + command.path;
  std::ranges::replace(name, ' ', '_');
  return name;
}

std::string specs(const CommandHelp& command) {
  std::string text;
  for (const OptionHelp& option : command.options) {
    const std::string value =
        option.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(option.value), offer(option));
    for (const std::string& name : {option.brief, option.name})
      if (!name.empty())
        text += fmt::format(" \\\n    '{}{}[{}]{}'", option.repeats ? "*" : "", name,
                            zsh_text(option.about), value);
  }
  for (const OptionHelp& argument : command.positionals)
    text += fmt::format(" \\\n    '{}:{}:{}'", argument.repeats ? "*" : "", zsh_text(argument.name),
                        offer(argument));
  return text;
}

std::string function(const CommandHelp& command) {
  const std::string name = function_name(command);
  if (command.commands.empty())
    return fmt::format("{}() {{\n  _arguments{}\n}}\n\n", name, specs(command));
  std::string rows;
  for (const CommandHelp& below : command.commands)
    rows += fmt::format("        '{}:{}'\n", below.name, zsh_text(below.about));
  return fmt::format(R"({name}() {{
  local context state state_descr line
  typeset -A opt_args
  _arguments -C{specs} \
    '1:command:->command' \
    '*::argument:->argument'
  case $state in
    command)
      local -a commands=(
{rows}      )
      _describe -t commands command commands
      ;;
    argument)
      (( $+functions[{name}_$line[1]] )) && {name}_$line[1]
      ;;
  esac
}}

)",
                     fmt::arg("name", name), fmt::arg("specs", specs(command)),
                     fmt::arg("rows", rows));
}

}  // namespace

std::string to_zsh(const CommandHelp& root) {
  std::string text = fmt::format(
      "#compdef {0}\n# Completion of {0} for zsh, written by `{0} completion zsh`.\n\n", root.name);
  for (const CommandHelp* command : all_of(root)) text += function(*command);
  // Autoloaded from a folder of $fpath, or read by source.
  return text + fmt::format(
                    "if [[ $funcstack[1] == _{0} ]]; then\n  _{0} \"$@\"\nelse\n  compdef _{0} "
                    "{0}\nfi\n",
                    root.name);
}

}  // namespace faultline
