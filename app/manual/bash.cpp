#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/manual/forms.h"

namespace faultline {
namespace {

// What to offer for a value, as commands of the script.
std::string offer(const OptionHelp& option) {
  switch (kind_of(option)) {
    case ValueKind::words:
      return fmt::format("words='{}'", fmt::join(words_of(option), " "));
    case ValueKind::listed:
      return fmt::format("words=$(\"${{COMP_WORDS[0]}}\" {} 2>/dev/null)", listing_of(option));
    case ValueKind::file:
      return "files=-f";
    case ValueKind::folder:
      return "files=-d";
    case ValueKind::free:
      break;
  }
  return ":";
}

std::string paths(const CommandHelp& root) {
  std::string text;
  for (const CommandHelp* command : all_of(root))
    if (command != &root) text += fmt::format("{}\"{}\"", text.empty() ? "" : " | ", command->path);
  return text;
}

std::string values(const CommandHelp& root) {
  std::string text;
  for (const CommandHelp* command : all_of(root))
    for (const OptionHelp& option : command->options)
      if (!option.value.empty())
        text += fmt::format("    \"{} {}\") {} ;;\n", command->path, option.name, offer(option));
  return text;
}

std::string arguments(const CommandHelp& root) {
  std::string text;
  for (const CommandHelp* command : all_of(root)) {
    std::vector<std::string> words;
    for (const CommandHelp& below : command->commands) words.push_back(below.name);
    std::string others;
    for (const OptionHelp& argument : command->positionals) {
      if (kind_of(argument) == ValueKind::words)
        for (const std::string& word : words_of(argument)) words.push_back(word);
      else if (kind_of(argument) != ValueKind::free)
        others = "; " + offer(argument);
    }
    std::vector<std::string> flags;
    for (const OptionHelp& option : command->options) flags.push_back(option.name);
    text += fmt::format("        \"{}\") words='{}' flags='{}'{} ;;\n", command->path,
                        fmt::join(words, " "), fmt::join(flags, " "), others);
  }
  return text;
}

}  // namespace

std::string to_bash(const CommandHelp& root) {
  return fmt::format(R"(# Completion of {name} for bash, written by `{name} completion bash`.
_{name}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command={name} words='' flags='' files='' i
  # "--flag=value" is three words here.
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $before == '=' ]]; then
    before=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${{COMP_WORDS[i]}}" in
      {paths}) command="$command ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$command $before" in
{values}    *)
      case $command in
{arguments}      esac
      ;;
  esac
  [[ $current != -* ]] || words=$flags
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  if [[ -n $files && $current != -* ]]; then
    compopt -o filenames
    mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen "$files" -- "$current")
  fi
}}
complete -F _{name} {name}
)",
                     fmt::arg("name", root.name), fmt::arg("paths", paths(root)),
                     fmt::arg("values", values(root)), fmt::arg("arguments", arguments(root)));
}

}  // namespace faultline
