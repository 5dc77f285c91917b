#include <fmt/format.h>

#include "app/manual/forms.h"
#include "app/manual/wrap.h"

namespace faultline {
namespace {

constexpr std::size_t kWidth = 96;
constexpr std::size_t kColumn = 30;

// The name, and its description in a column beside it, or below it if the name is long.
std::string row(const std::string& name, const std::string& about) {
  const std::string margin(kColumn, ' ');
  std::string text = "  " + name;
  text += text.size() + 2 > kColumn ? "\n" + margin : margin.substr(text.size());
  return text + wrapped(about, kWidth, margin, kColumn) + "\n";
}

std::string about(const OptionHelp& option) {
  std::string text = option.about;
  if (option.required && option.name.starts_with('-')) text += " (required)";
  if (option.repeats && option.name.starts_with('-')) text += " (may be given several times)";
  if (!option.standard.empty() && !option.value.empty())
    text += fmt::format(" (default: {})", option.standard);
  return text;
}

}  // namespace

std::string to_help_text(const CommandHelp& command) {
  std::string text = fmt::format("{}\nUsage: {}\n", command.about, synopsis(command));
  if (!command.positionals.empty()) text += "\nArguments:\n";
  for (const OptionHelp& argument : command.positionals)
    text += row(argument.name + (argument.repeats ? "..." : ""), about(argument));
  std::string group;
  for (const OptionHelp& option : command.options) {
    if (option.group != group) text += fmt::format("\n{}:\n", option.group);
    group = option.group;
    const std::string name = option.brief.empty() ? option.name : option.brief + ", " + option.name;
    text += row(option.value.empty() ? name : name + " " + option.value, about(option));
  }
  if (!command.commands.empty()) text += "\nCommands:\n";
  for (const CommandHelp& below : command.commands) text += row(below.name, below.about);
  if (!command.footer.empty()) text += "\n" + wrapped(command.footer, kWidth) + "\n";
  return text;
}

}  // namespace faultline
