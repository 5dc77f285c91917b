#include "parsers/tool/tool_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "parsers/scan.h"

namespace faultline::tool_text {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::size_t kMostCells = 32;
constexpr std::size_t kMostDigits = 18;

bool is_letters(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

template <std::size_t N>
int place_in(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

}  // namespace

std::string_view without_end_blanks(std::string_view text) {
  const std::size_t last = text.find_last_not_of(kBlanks);
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

std::size_t indentation(std::string_view text) {
  return std::min(text.find_first_not_of(kBlanks), text.size());
}

bool ends_as_a_sentence(std::string_view text) {
  text = without_end_blanks(text);
  return text.ends_with(')') || (text.ends_with('.') && text.size() > 1 &&
                                 (text[text.size() - 2] < '0' || text[text.size() - 2] > '9'));
}

std::string_view trimmed(std::string_view text) {
  return without_end_blanks(text.substr(indentation(text)));
}

std::vector<std::string_view> words_of(std::string_view text, std::size_t most) {
  std::vector<std::string_view> words;
  while (words.size() < most) {
    text.remove_prefix(indentation(text));
    if (text.empty()) break;
    const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

std::vector<std::string_view> pieces_of(std::string_view text, std::string_view separator,
                                        std::size_t most) {
  std::vector<std::string_view> pieces;
  std::string_view piece;
  while (pieces.size() + 1 < most && take_until(text, separator, piece))
    pieces.push_back(trimmed(piece));
  pieces.push_back(trimmed(text));
  return pieces;
}

std::vector<std::string_view> cells_of(std::string_view row) {
  row = trimmed(row);
  if (row.size() < 2 || row.front() != '|' || row.back() != '|') return {};
  return pieces_of(row.substr(1, row.size() - 2), "|", kMostCells);
}

bool take_front(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool take_until(std::string_view& text, std::string_view literal, std::string_view& piece) {
  const std::size_t at = text.find(literal);
  if (at == std::string_view::npos) return false;
  piece = text.substr(0, at);
  text.remove_prefix(at + literal.size());
  return true;
}

bool is_count(std::string_view text) {
  return !text.empty() && text.size() <= kMostDigits &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<double> real(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<Timestamp> parse_ctime(std::string_view text) {
  constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  auto words = words_of(text, 7);
  if (words.size() == 6 && is_letters(words[4])) words.erase(words.begin() + 4);  // the zone
  if (words.size() != 5 || place_in(kDays, words[0]) < 0) return std::nullopt;
  const int month = place_in(kMonths, words[1]);
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int year = 0;
  Scan days(words[2]);
  Scan time(words[3]);
  Scan years(words[4]);
  if (month < 0 || words[4].size() != 4 || !days.decimal(day) || !days.done() ||
      !time.decimal(hour) || !time.skip(":") || !time.decimal(minute) || !time.skip(":") ||
      !time.decimal(second) || !time.done() || !years.decimal(year) || !years.done())
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month) + 1),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
}

}  // namespace faultline::tool_text
