// Log lines are text of strangers. It is made harmless before it is shown to a person.
#pragma once

#include <string>
#include <string_view>

namespace faultline {

// At most so many bytes, no control characters: nothing may move the cursor or colour a terminal.
std::string shown(std::string_view text, std::size_t most_bytes = 150);

// The same, cut between words.
std::string shown_words(std::string_view text, std::size_t most_bytes);

// The same inside HTML, and inside a cell or line of Markdown.
std::string shown_in_html(std::string_view text, std::size_t most_bytes = 400);
std::string shown_in_markdown(std::string_view text, std::size_t most_bytes = 400);

}  // namespace faultline
