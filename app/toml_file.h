// A TOML file of settings, as keys and values with their lines.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {

enum class ConfigKind { text, number, boolean };

struct ConfigValue {
  std::vector<std::string> texts;  // as on a command line
  ConfigKind kind = ConfigKind::text;
  bool is_list = false;
  std::size_t line = 0;
};

// The keys and values of the file itself, or of a table in it.
struct ConfigTable {
  std::string file;
  std::string name;  // empty: of the file itself
  std::size_t line = 0;
  std::map<std::string, ConfigValue> values;
};

// The file's own keys first, then its tables ([name] and [[name]]) in their order. Throws what
// refusal_at() makes.
std::vector<ConfigTable> read_toml(const std::filesystem::path& file);

// "FILE: line 3: why", always in one line, whatever it quotes.
std::runtime_error refusal_at(std::string_view file, std::size_t line, std::string_view why);

// As a value of such a file.
std::string toml_text(std::string_view text);

}  // namespace faultline
