#include "app/config_file.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "rules/answer/shown_text.h"

namespace faultline {
namespace {

// One line, whatever it quotes of the file.
std::runtime_error refusal(const std::string& why) {
  return std::runtime_error(shown(why, SIZE_MAX));
}

// Flags that are about the command line itself.
bool is_setting(const CLI::Option& option) {
  const std::string& name = option.get_single_name();
  return name != "help" && name != "config" && name != "print-config";
}

std::string known_keys(const CLI::App& command) {
  std::string known;
  for (const CLI::Option* option : command.get_options({}))
    if (is_setting(*option))
      known += fmt::format("{}{}", known.empty() ? "" : ", ", option->get_single_name());
  return known;
}

// No setting needs any, and config_of() could not write it.
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

std::vector<CLI::ConfigItem> items_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw refusal(fmt::format("{}: cannot be read", file.string()));
  try {
    return CLI::ConfigTOML().from_config(in);
  } catch (const CLI::Error& error) {
    throw refusal(fmt::format("{}: not valid TOML: {}", file.string(), error.what()));
  }
}

std::string toml_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string toml_value(const std::vector<std::string>& values) {
  if (values.size() == 1) return toml_string(values.front());
  std::string list;
  for (const std::string& value : values) list += (list.empty() ? "" : ", ") + toml_string(value);
  return "[" + list + "]";
}

ConfigTables apply_config_file(CLI::App& command, const std::filesystem::path& file) {
  std::vector<std::string> seen;
  ConfigTables tables;
  for (const CLI::ConfigItem& item : items_of(file)) {
    const bool of_receiver = item.parents == std::vector<std::string>{"receiver"};
    if (item.name == "++" || item.name == "--") {
      // how CLI11 marks where a table begins, ends
      if (of_receiver && item.name == "++") tables.emplace_back();
      continue;
    }
    const std::string key = item.fullname();
    if (of_receiver && !tables.empty()) {
      if (!tables.back().try_emplace(item.name, item.inputs).second)
        throw refusal(fmt::format("{}: \"{}\" is set twice; keep one", file.string(), key));
      continue;
    }
    CLI::Option* option = item.parents.empty() ? command.get_option_no_throw("--" + key) : nullptr;
    if (option == nullptr || !is_setting(*option))
      throw refusal(fmt::format("{}: unknown key \"{}\"; the keys are {}", file.string(), key,
                                known_keys(command)));
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      throw refusal(fmt::format("{}: \"{}\" is set twice; keep one", file.string(), key));
    seen.push_back(key);
    if (std::ranges::any_of(item.inputs, holds_control_characters))
      throw refusal(fmt::format("{}: bad value for \"{}\": it holds a control character; remove it",
                                file.string(), key));
    if (option->count() > 0 || item.inputs.empty()) continue;  // given already; an empty list
    try {
      option->add_result(item.inputs);
      option->run_callback();
    } catch (const CLI::Error& error) {
      throw refusal(
          fmt::format("{}: bad value for \"{}\": {}", file.string(), key, reason_of(error, key)));
    }
  }
  return tables;
}

std::string config_of(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options({})) {
    if (!is_setting(*option)) continue;
    const bool flag = option->get_items_expected_max() == 0;
    const std::vector<std::string>& given = option->results();
    if (option->get_items_expected_max() > 1) {
      text += fmt::format("{} = {}\n", option->get_single_name(),
                          given.empty() ? "[]" : toml_value(given));
      continue;
    }
    const std::string value = given.empty() ? option->get_default_str() : given.back();
    text += fmt::format(
        "{} = {}\n", option->get_single_name(),
        flag ? (given.empty() || value == "false" ? "false" : "true") : toml_string(value));
  }
  return text;
}

}  // namespace faultline
