// What the commands and their flags say of themselves, as values. --help, the pages of the manual
// and the completions of shells are written from these and from nothing else.
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
  std::string standard;  // what holds without it
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
  std::vector<OptionHelp> options;  // those of a group follow each other
  std::vector<CommandHelp> commands;
};

CommandHelp help_of(const CLI::App& app);

// The command and all below it, each after the one that it belongs to.
std::vector<const CommandHelp*> all_of(const CommandHelp& root);

// "diagnose [OPTION]... PATH..."
std::string synopsis(const CommandHelp& command);

// What may stand in place of a value. Listed: too many words to show; a command prints them.
enum class ValueKind { free, words, listed, file, folder };
ValueKind kind_of(const OptionHelp& option);
// The command's words after the program's own name.
std::string_view listing_of(const OptionHelp& option);
std::vector<std::string> words_of(const OptionHelp& option);

// The option takes one of some words.
CLI::Option* choose(CLI::Option* option, const std::vector<std::string>& words);

// What an option takes that is a whole number within these bounds.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

// The name that was meant, if one of them is near.
std::string nearest(std::string_view typed, const std::vector<std::string>& names);

}  // namespace faultline
