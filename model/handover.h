// What answers and alerts hand to a person alike: the step to take, how to acknowledge, and text
// that fits.
#pragma once

#include <string>
#include <string_view>

#include "model/finding.h"

namespace faultline {

// The one to take now: the first that comes with a command, else the first; empty: none is known.
Action next_step_of(const Finding& finding);

// What a command begins with that asks or tells the server something.
std::string curl_command(const ServerAddress& server);

// Tells the server that somebody takes care of the finding.
std::string acknowledge_command(const ServerAddress& server, std::string_view finding);

// A name as one part of a URL's path, or as a value of its query.
std::string percent_encoded(std::string_view text);

// As headings and variables are written.
std::string upper(std::string_view text);

// At most `size` bytes, cut between characters.
std::string cut(std::string text, std::size_t size);
// The same between words, where there is a blank.
std::string cut_at_word(std::string text, std::size_t size);

}  // namespace faultline
