// What the readers of tools' reports share: blanks, words, the cells of a table, the times that
// tools print.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/time.h"

namespace faultline::tool_text {

std::string_view trimmed(std::string_view text);
std::string_view without_end_blanks(std::string_view text);
std::size_t indentation(std::string_view text);

// What ends so was not cut in the midst of a word or a number.
bool ends_as_a_sentence(std::string_view text);

// The words between blanks; no more than `most`.
std::vector<std::string_view> words_of(std::string_view text, std::size_t most = 256);

// What stands between separators, trimmed; no more than `most`.
std::vector<std::string_view> pieces_of(std::string_view text, std::string_view separator,
                                        std::size_t most = 256);

// "| left | right |" gives both cells, trimmed; nothing if it is no row of a table.
std::vector<std::string_view> cells_of(std::string_view row);

// Takes `prefix` off the front; false, and nothing taken, if it is not there.
bool take_front(std::string_view& text, std::string_view prefix);

// Takes everything up to `literal`, and that with it; false, and nothing taken, if it is not there.
bool take_until(std::string_view& text, std::string_view literal, std::string_view& piece);

bool is_count(std::string_view text);               // digits, no more than fit a number
std::optional<double> real(std::string_view text);  // all of it, and finite

// "Thu Mar  5 02:46:58 2026", with or without a zone's name before the year; local time, read as
// UTC.
std::optional<Timestamp> parse_ctime(std::string_view text);

}  // namespace faultline::tool_text
