// Sentences: in titles, and in lines that only talk about a message instead of printing it (a
// README, a comment, a command that searches for it).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace faultline {

// Whether the text only talks about the message that stands in it from `begin` to `end`.
bool is_talked_about(std::string_view text, std::size_t begin, std::size_t end);

// "rank 3 left" becomes "Rank 3 left", and the other way round.
void begin_with_a_capital(std::string& text);

// Words in the place of a name, such as "a device", get a capital letter; a name stays as it is.
void begin_words_with_a_capital(std::string& text);
std::string in_a_sentence(std::string text);

// "1 rank", "3 ranks"; "1 process", "3 processes".
std::string counted(std::size_t count, std::string_view one, std::string_view several = {});

// The host's name, or "a host that no line names".
std::string host_in_words(std::string_view host);

}  // namespace faultline
