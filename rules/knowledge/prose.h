// Sentences: those of titles, and those that talk about a message where a program would print it: a
// README, a comment, a command that looks for it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace faultline {

// Whether the text talks about what stands in it from `begin` to `end`.
bool is_talked_about(std::string_view text, std::size_t begin, std::size_t end);

// "rank 3 left" becomes "Rank 3 left".
void begin_with_a_capital(std::string& text);

}  // namespace faultline
