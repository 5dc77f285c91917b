// A command's settings from a TOML file: every key is the long name of a flag, and a flag given on
// the command line wins.
#pragma once

#include <filesystem>
#include <string>

namespace CLI {
class App;
}

namespace faultline {

// Applies the file to the options of `command` that were not given. Throws std::runtime_error with
// one line that names the file, the key and the mend.
void apply_config_file(CLI::App& command, const std::filesystem::path& file);

// The settings in force, as such a file.
std::string config_of(const CLI::App& command);

}  // namespace faultline
