#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "app/manual/forms.h"
#include "app/manual/wrap.h"

namespace faultline {
namespace {

// Roff takes "-" for a hyphen, and a line that begins with "." or "'" for a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (out.empty() && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

// A paragraph, in lines of the length of manuals. No line begins with a request of roff, because no
// word does.
std::string prose(std::string_view text) { return wrapped(roff(text), 78) + "\n"; }

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// The section's title says it already.
std::string_view without_heading(std::string_view exit_status) {
  constexpr std::string_view kHeading = "Exit status: ";
  if (exit_status.starts_with(kHeading)) exit_status.remove_prefix(kHeading.size());
  return exit_status;
}

// One section for each group; the common options are in OPTIONS.
std::string options(const CommandHelp& command) {
  std::string text;
  std::string group;
  for (const OptionHelp& option : command.options) {
    if (option.group != group) text += fmt::format(".SH {}\n", roff(upper(option.group)));
    group = option.group;
    text += ".TP\n";
    if (!option.brief.empty()) text += bold(option.brief) + ", ";
    text += bold(option.name);
    if (!option.value.empty()) text += " " + italic(option.value);
    text += "\n" + prose(option.about + ".");
    if (option.required) text += "It is required.\n";
    if (option.repeats) text += "It may be given several times.\n";
    if (!option.standard.empty() && !option.value.empty())
      text += fmt::format("By default {}.\n", bold(option.standard));
  }
  return text;
}

std::string other_pages(const CommandHelp& command, const CommandHelp& root) {
  std::string text;
  for (const CommandHelp* page : all_of(root))
    if (page != &command)
      text += fmt::format("{}.BR {} (1)", text.empty() ? "" : ",\n", roff(page_name(*page)));
  return text + "\n";
}

}  // namespace

std::string page_name(const CommandHelp& command) {
  std::string name = command.path;
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string to_man_page(const CommandHelp& command, const CommandHelp& root,
                        std::string_view version, std::string_view date) {
  const std::string name = page_name(command);
  std::string text =
      fmt::format(".TH {} 1 \"{}\" \"faultline {}\"\n", roff(upper(name)), date, version);
  text += ".SH NAME\n" + prose(name + " - " + command.about);
  text += fmt::format(".SH SYNOPSIS\n{}\n", bold(synopsis(command)));
  text += ".SH DESCRIPTION\n" + prose(command.about + ".");
  if (!command.positionals.empty()) text += ".SH ARGUMENTS\n";
  for (const OptionHelp& argument : command.positionals)
    text += fmt::format(".TP\n{}\n{}", italic(argument.name), prose(argument.about + "."));
  if (!command.commands.empty()) text += ".SH COMMANDS\n";
  for (const CommandHelp& below : command.commands)
    text += fmt::format(".TP\n{}\n{}", bold(below.name), prose(below.about + "."));
  text += options(command);
  const std::string_view footer = command.footer;
  const std::size_t exit_status = std::min(footer.find("Exit status"), footer.size());
  if (exit_status > 0) text += ".SH NOTES\n" + prose(footer.substr(0, exit_status));
  if (exit_status < footer.size())
    text += ".SH EXIT STATUS\n" + prose(without_heading(footer.substr(exit_status)));
  return text + ".SH SEE ALSO\n" + other_pages(command, root);
}

}  // namespace faultline
