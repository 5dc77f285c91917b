// A command's settings from a TOML file: every key is the long name of a flag, and a flag given on
// the command line wins.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/toml_file.h"

namespace CLI {
class App;
}

namespace faultline {

using ConfigTables = std::vector<ConfigTable>;

// Applies the file to the options of `command` that were not given. Throws std::runtime_error with
// one line that names the file, the line, the key and the mend.
// Returns its [[receiver]] tables.
ConfigTables apply_config_file(CLI::App& command, const std::filesystem::path& file);

// The settings in force, as such a file.
std::string config_of(const CLI::App& command);

// As a value of such a file: a text, or a list of texts.
std::string toml_value(const std::vector<std::string>& values);

}  // namespace faultline
