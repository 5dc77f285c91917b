// What the parts of the HTML file share. It has the same elements and classes as the page at /, so
// that one style serves both (http/web/style.css).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/finding.h"
#include "model/time.h"

namespace faultline {

// "2026-03-05 02:00:35 UTC", as the page has it.
std::string clock_in_html(Timestamp time);

// "1,024 ranks", "1 rank"
std::string counted_in_html(std::uint64_t count, std::string_view one, std::string_view several);
std::string grouped_digits(std::uint64_t number);

// `summary` and `content` are markup.
std::string fold_in_html(std::string_view summary, std::string_view content);
std::string section_in_html(std::string_view heading, std::string_view content);

// A block of code; empty if the text is empty.
std::string code_in_html(std::string_view text);

// A table that scrolls if it is too wide. `name` and `columns` are trusted text, `rows` is markup.
std::string table_in_html(std::string_view name, std::initializer_list<std::string_view> columns,
                          std::string_view rows);

// "97 % sure", "only possible, 60 % sure"
std::string sureness_in_html(const Finding& finding);

}  // namespace faultline
