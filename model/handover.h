// What both answers and alerts give to people: the next step, the command that acknowledges, and
// texts cut to a length.
#pragma once

#include <string>
#include <string_view>

#include "model/finding.h"

namespace faultline {

// The step to take now: the first action with a command, else the first one; empty: there is none.
Action next_step_of(const Finding& finding);

// The beginning of a curl command for the server, with a token if the server asks for one.
std::string curl_command(const ServerAddress& server);

// The command that tells the server that somebody takes care of the finding.
std::string acknowledge_command(const ServerAddress& server, std::string_view finding);

// A name as one part of a URL's path, or as a value of its query.
std::string percent_encoded(std::string_view text);

// In capitals, for headings and variables.
std::string upper(std::string_view text);

// At most `size` bytes, cut between characters.
std::string cut(std::string text, std::size_t size);
// The same, cut between words if there is a blank.
std::string cut_at_word(std::string text, std::size_t size);

}  // namespace faultline
