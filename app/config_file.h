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
inline constexpr std::string_view kReceiver = "receiver";  // who gets alerts
inline constexpr std::string_view kKeep = "keep";          // how long some jobs are kept
}  // namespace tables

// The lines of the settings in a file, for mistakes that show only when a setting is used.
class SettingPlaces {
 public:
  void add(std::string key, std::string value, std::string place);

  // If the message begins with the key, flag or value of a setting, adds the place of the setting.
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
// one line that names the file, the line, the key and the fix.
SettingsFile apply_config_file(CLI::App& command, const std::filesystem::path& file);

// The settings in force, by their keys, each as written in such a file.
std::vector<std::pair<std::string, std::string>> settings_of(const CLI::App& command);

// The settings in force and the tables, as such a file. It names the files of secrets, but does not
// hold the secrets.
std::string config_of(const CLI::App& command, const ConfigTables& tables = {});

// As a value of such a file: a text, or a list of texts.
std::string toml_value(const std::vector<std::string>& values);

}  // namespace faultline
