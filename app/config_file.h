// A command's settings from a TOML file: every key is the long name of a flag, and a flag given on
// the command line wins.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/toml_file.h"

namespace CLI {
class App;
}

namespace faultline {

using ConfigTables = std::vector<ConfigTable>;

// The tables that such a file may have, each several times.
namespace tables {
inline constexpr std::string_view kReceiver = "receiver";  // who is told of findings
inline constexpr std::string_view kKeep = "keep";          // how long which jobs are kept
}  // namespace tables

// Where the settings of a file stand in it, for what shows to be wrong with one only when it is
// used.
class SettingPlaces {
 public:
  void add(std::string key, std::string value, std::string place);

  // Adds its place to a message that begins with a setting's key, flag or value.
  std::string with_place(std::string message) const;

 private:
  struct Setting {
    std::string key;
    std::string value;
    std::string place;
  };
  std::vector<Setting> settings_;
};

struct SettingsFile {
  ConfigTables tables;
  SettingPlaces places;
};

// Applies the file to the options of `command` that were not given. Throws std::runtime_error with
// one line that names the file, the line, the key and the mend.
SettingsFile apply_config_file(CLI::App& command, const std::filesystem::path& file);

// The settings in force, by their keys, each as such a file has it.
std::vector<std::pair<std::string, std::string>> settings_of(const CLI::App& command);

// The same, and the tables, as such a file. What is secret is not in it, only its file.
std::string config_of(const CLI::App& command, const ConfigTables& tables = {});

// As a value of such a file: a text, or a list of texts.
std::string toml_value(const std::vector<std::string>& values);

}  // namespace faultline
