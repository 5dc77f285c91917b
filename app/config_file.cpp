#include "app/config_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "app/manual/command_help.h"

namespace faultline {
namespace {

constexpr std::array<std::string_view, 2> kTables{tables::kKeep, tables::kReceiver};

// Flags that are about the command line itself are no settings.
bool is_setting(const CLI::Option& option) {
  constexpr std::array<std::string_view, 4> kOthers{"help", "config", "print-config",
                                                    "check-config"};
  return std::ranges::find(kOthers, option.get_single_name()) == kOthers.end();
}

std::vector<std::string> known_keys(const CLI::App& command) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options({}))
    if (is_setting(*option)) known.push_back(option->get_single_name());
  return known;
}

// No setting needs a control character.
bool holds_control_characters(const std::string& value) {
  return std::ranges::any_of(
      value, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// CLI11 prefixes its messages with the option's name, which ours have already.
std::string reason_of(const CLI::Error& error, const std::string& name) {
  const std::string what = error.what();
  const std::string prefix = "--" + name + ": ";
  return what.starts_with(prefix) ? what.substr(prefix.size()) : what;
}

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }
bool is_list(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

bool takes_numbers(const CLI::Option& option) {
  constexpr std::array<std::string_view, 3> kNumeric{"N", "SIZE", "DURATION"};
  return std::ranges::find(kNumeric, option.get_type_name()) != kNumeric.end();
}

// What is wrong with the form of the value; the option itself judges the content.
std::string wrong_form(const CLI::Option& option, const ConfigValue& value) {
  if (value.is_list && !is_list(option)) return "takes one value; remove the brackets";
  if (is_flag(option))
    return value.kind == ConfigKind::boolean ? "" : "must be true or false, without quotes";
  if (value.texts.empty()) return "";
  if (value.kind == ConfigKind::boolean ||
      (value.kind == ConfigKind::number && !takes_numbers(option)))
    return fmt::format("must be a text in quotes: {} = {}", option.get_single_name(),
                       toml_text(value.texts.front()));
  if (std::ranges::any_of(value.texts, holds_control_characters))
    return "it holds a control character; remove it";
  return "";
}

std::string unknown_key(const CLI::App& command, const std::string& key) {
  if (const CLI::Option* option = command.get_option_no_throw("--" + key); option != nullptr)
    return fmt::format("\"{}\" is not a setting; give it on the command line", key);
  const std::vector<std::string> known = known_keys(command);
  const std::string meant = nearest(key, known);
  return meant.empty()
             ? fmt::format("unknown key \"{}\"; the keys are {}", key, fmt::join(known, ", "))
             : fmt::format("unknown key \"{}\"; did you mean \"{}\"?", key, meant);
}

std::string unknown_table(const std::string& name) {
  const std::string meant = nearest(name, {kTables.begin(), kTables.end()});
  return meant.empty() ? fmt::format(
                             "unknown table \"{}\"; settings are in no table, and the only "
                             "tables are [[{}]]",
                             name, fmt::join(kTables, "]] and [["))
                       : fmt::format("unknown table \"{}\"; did you mean [[{}]]?", name, meant);
}

// Returns whether the value is in force.
bool apply(CLI::App& command, const std::string& file, const std::string& key,
           const ConfigValue& value) {
  CLI::Option* option = command.get_option_no_throw("--" + key);
  if (option == nullptr || !is_setting(*option))
    throw refusal_at(file, value.line, unknown_key(command, key));
  const auto refuse = [&](const std::string& why) {
    return refusal_at(file, value.line, fmt::format("bad value for \"{}\": {}", key, why));
  };
  if (const std::string wrong = wrong_form(*option, value); !wrong.empty()) throw refuse(wrong);
  if (option->count() > 0 || value.texts.empty()) return false;  // given already; an empty list
  try {
    option->add_result(value.texts);
    option->run_callback();
  } catch (const CLI::Error& error) {
    throw refuse(reason_of(error, key));
  }
  return true;
}

// In the order of the file, so that the first mistake is reported first.
std::vector<std::pair<std::string, ConfigValue>> by_line(const ConfigTable& table) {
  std::vector<std::pair<std::string, ConfigValue>> rows(table.values.begin(), table.values.end());
  std::ranges::stable_sort(rows, {}, [](const auto& row) { return row.second.line; });
  return rows;
}

}  // namespace

std::string toml_value(const std::vector<std::string>& values) {
  if (values.size() == 1) return toml_text(values.front());
  std::string list;
  for (const std::string& value : values) list += (list.empty() ? "" : ", ") + toml_text(value);
  return "[" + list + "]";
}

void SettingPlaces::add(std::string key, std::string value, std::string place) {
  settings_.push_back({std::move(key), std::move(value), std::move(place)});
}

std::string SettingPlaces::with_place(std::string message) const {
  for (const auto& [key, value, place] : settings_)
    if (message.starts_with(key + " ") || message.starts_with("--" + key + " ") ||
        message.starts_with(value + ": "))
      return fmt::format("{} ({} in {})", message, key, place);
  return message;
}

SettingsFile apply_config_file(CLI::App& command, const std::filesystem::path& file) {
  SettingsFile read{.tables = read_toml(file), .places = {}};
  const ConfigTable own = read.tables.front();
  read.tables.erase(read.tables.begin());
  for (const auto& [key, value] : by_line(own))
    if (apply(command, own.file, key, value))
      read.places.add(key, value.texts.front(), fmt::format("{}, line {}", own.file, value.line));
  for (const ConfigTable& table : read.tables)
    if (std::ranges::find(kTables, table.name) == kTables.end())
      throw refusal_at(table.file, table.line, unknown_table(table.name));
  return read;
}

std::vector<std::pair<std::string, std::string>> settings_of(const CLI::App& command) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const CLI::Option* option : command.get_options({})) {
    if (!is_setting(*option)) continue;
    const std::string key = option->get_single_name();
    const std::vector<std::string>& given = option->results();
    if (is_list(*option)) {
      settings.emplace_back(key, given.empty() ? "[]" : toml_value(given));
      continue;
    }
    const std::string value = given.empty() ? option->get_default_str() : given.back();
    const bool is_set = !given.empty() && value != "false";
    settings.emplace_back(key, is_flag(*option) ? (is_set ? "true" : "false") : toml_text(value));
  }
  return settings;
}

std::string config_of(const CLI::App& command, const ConfigTables& tables) {
  std::string text;
  for (const auto& [key, value] : settings_of(command))
    text += fmt::format("{} = {}\n", key, value);
  for (const ConfigTable& table : tables) {
    text += fmt::format("\n[[{}]]\n", table.name);
    for (const auto& [key, value] : table.values)
      text += fmt::format("{} = {}\n", key, toml_value(value.texts));
  }
  return text;
}

}  // namespace faultline
