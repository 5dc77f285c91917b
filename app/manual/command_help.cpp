#include "app/manual/command_help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <numeric>

namespace faultline {
namespace {

OptionHelp help_of(const CLI::Option& option) {
  OptionHelp help{.about = option.get_description(),
                  .standard = option.get_default_str(),
                  .group = option.get_group(),
                  .required = option.get_required(),
                  .repeats = option.get_expected_max() > 1};
  if (option.get_positional()) {
    help.name = option.get_name(true);
    help.value = option.get_type_name();
    return help;
  }
  help.name = "--" + option.get_lnames().front();
  if (!option.get_snames().empty()) help.brief = "-" + option.get_snames().front();
  if (option.get_items_expected_max() > 0) help.value = option.get_type_name();
  return help;
}

// Values that a command of this program prints, one a line.
struct Listing {
  std::string_view value;
  std::string_view command;
};
constexpr Listing kListings[] = {{"SCENARIO", "simulate --list --format names"},
                                 {"ID", "rules list --format names"}};

std::string path_of(const CLI::App& app) {
  const CLI::App* above = app.get_parent();
  return above == nullptr ? app.get_name() : path_of(*above) + " " + app.get_name();
}

// How many letters to add, to remove, to change, or to swap with the next.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(to.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::vector<std::size_t> row(to.size() + 1, i);
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t change = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::move(last);
    last = std::move(row);
  }
  return last[to.size()];
}

}  // namespace

CommandHelp help_of(const CLI::App& app) {
  CommandHelp help{.path = path_of(app),
                   .name = app.get_name(),
                   .about = app.get_description(),
                   .footer = app.get_footer()};
  for (const CLI::Option* option : app.get_options({}))
    if (!option->get_group().empty())
      (option->get_positional() ? help.positionals : help.options).push_back(help_of(*option));
  const auto place = [groups = app.get_groups()](const OptionHelp& option) {
    return std::ranges::find(groups, option.group) - groups.begin();
  };
  std::ranges::stable_sort(help.options, {}, place);
  for (const CLI::App* below : app.get_subcommands({}))
    if (!below->get_group().empty()) help.commands.push_back(help_of(*below));
  return help;
}

std::vector<const CommandHelp*> all_of(const CommandHelp& root) {
  std::vector<const CommandHelp*> all{&root};
  for (const CommandHelp& below : root.commands) {
    const auto these = all_of(below);
    all.insert(all.end(), these.begin(), these.end());
  }
  return all;
}

std::string synopsis(const CommandHelp& command) {
  std::string text = command.path + " [OPTION]...";
  if (!command.commands.empty()) text += " COMMAND";
  for (const OptionHelp& argument : command.positionals) {
    const std::string one = argument.name + (argument.repeats ? "..." : "");
    text += argument.required ? " " + one : fmt::format(" [{}]", one);
  }
  return text;
}

ValueKind kind_of(const OptionHelp& option) {
  if (option.value == "DIR") return ValueKind::folder;
  if (option.value == "FILE" || option.value == "PATH") return ValueKind::file;
  if (!listing_of(option).empty()) return ValueKind::listed;
  return option.value.find('|') == std::string::npos ? ValueKind::free : ValueKind::words;
}

std::string_view listing_of(const OptionHelp& option) {
  const auto* found = std::ranges::find(kListings, option.value, &Listing::value);
  return found == std::end(kListings) ? std::string_view() : found->command;
}

std::vector<std::string> words_of(const OptionHelp& option) {
  return CLI::detail::split(option.value, '|');
}

CLI::Option* choose(CLI::Option* option, const std::vector<std::string>& words) {
  const auto check = [words](const std::string& text) {
    return std::ranges::find(words, text) != words.end()
               ? std::string{}
               : fmt::format("must be one of {}, not {}", fmt::join(words, ", "), text);
  };
  return option->type_name(fmt::format("{}", fmt::join(words, "|")))
      ->check(CLI::Validator(check, ""));
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const auto check = [least, most](const std::string& text) {
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, bad] = std::from_chars(text.data(), end, number);
    return bad == std::errc{} && stop == end && number >= least && number <= most
               ? std::string{}
               : fmt::format("must be a whole number from {} to {}", least, most);
  };
  return CLI::Validator(check, "");
}

std::string nearest(std::string_view typed, const std::vector<std::string>& names) {
  std::string best;
  std::size_t least = typed.size() / 3 + 2;  // with more wrong letters it is another word
  for (const std::string& name : names) {
    const std::size_t wrong =
        typed.size() > 2 && name.starts_with(typed) ? 1 : distance(typed, name);
    if (wrong < least && wrong < name.size()) {
      least = wrong;
      best = name;
    }
  }
  return best;
}

}  // namespace faultline
