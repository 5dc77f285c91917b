// Sentences: those of titles, and those that talk about a message where a program would print it: a
// README, a comment, a command that looks for it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace faultline {

// Whether the text talks about what stands in it from `begin` to `end`.
bool is_talked_about(std::string_view text, std::size_t begin, std::size_t end);

// "rank 3 left" becomes "Rank 3 left", and the other way round.
void begin_with_a_capital(std::string& text);
std::string in_a_sentence(std::string text);

// "1 rank", "3 ranks"; "1 process", "3 processes".
std::string counted(std::size_t count, std::string_view one, std::string_view several = {});

// Its name, or that no line names it.
std::string host_in_words(std::string_view host);

}  // namespace faultline
