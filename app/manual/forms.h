// The forms in which help is written.
#pragma once

#include <string>
#include <string_view>

#include "app/manual/command_help.h"

namespace faultline {

// --help
std::string to_help_text(const CommandHelp& command);

// A page of section 1 of the manual, in man's macros. Commands have pages of their own, which are
// named faultline-serve, faultline-rules-list.
std::string to_man_page(const CommandHelp& command, const CommandHelp& root,
                        std::string_view version, std::string_view date);
std::string page_name(const CommandHelp& command);

// Scripts that a shell reads.
std::string to_bash(const CommandHelp& root);
std::string to_zsh(const CommandHelp& root);
std::string to_fish(const CommandHelp& root);

}  // namespace faultline
