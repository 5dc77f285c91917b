// The descriptions of the commands and their flags, as values. --help, the pages of the manual and
// the completions of shells are written from these alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace faultline {

struct OptionHelp {
  std::string name;   // --listen; of a positional argument: PATH
  std::string brief;  // -h
  std::string value;  // ADDRESS:PORT; text|json; empty: it takes none
  std::string about;
  std::string standard;  // the default
  std::string group;
  bool required = false;
  bool repeats = false;
};

struct CommandHelp {
  std::string path;  // faultline rules list
  std::string name;
  std::string about;
  std::string footer;
  std::vector<OptionHelp> positionals;
  std::vector<OptionHelp> options;  // sorted by group
  std::vector<CommandHelp> commands;
};

CommandHelp help_of(const CLI::App& app);

// The command and all commands below it, each after its parent.
std::vector<const CommandHelp*> all_of(const CommandHelp& root);

// "diagnose [OPTION]... PATH..."
std::string synopsis(const CommandHelp& command);

// What a value may be. listed: too many words to show; a command prints them.
enum class ValueKind { free, words, listed, file, folder };
ValueKind kind_of(const OptionHelp& option);
// The words of that command, without the name of the program.
std::string_view listing_of(const OptionHelp& option);
std::vector<std::string> words_of(const OptionHelp& option);

// Makes the option take one of these words.
CLI::Option* choose(CLI::Option* option, const std::vector<std::string>& words);

// Checks that a value is a whole number within these bounds.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

// The name that was probably meant; empty if none is similar.
std::string nearest(std::string_view typed, const std::vector<std::string>& names);

}  // namespace faultline
