// What the readers of tools' reports share: blanks, words, cells of a table, times.
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

// Whether the text ends with a bracket or a full stop, so that no word or number was cut.
bool ends_as_a_sentence(std::string_view text);

// The words between blanks; no more than `most`.
std::vector<std::string_view> words_of(std::string_view text, std::size_t most = 256);

// The pieces between separators, trimmed; no more than `most`.
std::vector<std::string_view> pieces_of(std::string_view text, std::string_view separator,
                                        std::size_t most = 256);

// "| left | right |" gives both cells, trimmed; nothing if it is not a row of a table.
std::vector<std::string_view> cells_of(std::string_view row);

// Takes `prefix` off the front. If it is not there: false, and nothing is taken.
bool take_front(std::string_view& text, std::string_view prefix);

// Takes everything up to and including `literal`; piece is the text before it. If `literal` is not
// there: false, and nothing is taken.
bool take_until(std::string_view& text, std::string_view literal, std::string_view& piece);

bool is_count(std::string_view text);               // only digits, few enough to fit a number
std::optional<double> real(std::string_view text);  // the whole text is a finite number

// "Thu Mar  5 02:46:58 2026", with or without the name of a zone before the year. It is local time,
// but read as UTC.
std::optional<Timestamp> parse_ctime(std::string_view text);

}  // namespace faultline::tool_text
