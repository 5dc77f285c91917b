#include "ingest/unwrap/month_names.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "ingest/unwrap/scan.h"

namespace faultline {
namespace {

constexpr std::array<std::string_view, 12> kEnglish{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

struct Name {
  std::string_view text;
  unsigned month;
};

// In lower case, without the point that some languages put behind. German, French, Spanish,
// Portuguese, Italian, Dutch, the Scandinavian languages, Polish, Czech, Turkish, Russian.
constexpr auto kOthers = std::to_array<Name>({
    {"jan", 1},  {"janv", 1}, {"ene", 1},   {"gen", 1},  {"sty", 1},  {"led", 1},  {"oca", 1},
    {"янв", 1},  {"feb", 2},  {"févr", 2},  {"fev", 2},  {"lut", 2},  {"úno", 2},  {"şub", 2},
    {"фев", 2},  {"mär", 3},  {"mrz", 3},   {"mars", 3}, {"mar", 3},  {"mrt", 3},  {"bře", 3},
    {"мар", 3},  {"apr", 4},  {"avril", 4}, {"abr", 4},  {"kwi", 4},  {"dub", 4},  {"nis", 4},
    {"апр", 4},  {"mai", 5},  {"may", 5},   {"mag", 5},  {"mei", 5},  {"maj", 5},  {"kvě", 5},
    {"мая", 5},  {"май", 5},  {"jun", 6},   {"juin", 6}, {"giu", 6},  {"cze", 6},  {"čen", 6},
    {"haz", 6},  {"июн", 6},  {"jul", 7},   {"juil", 7}, {"lug", 7},  {"lip", 7},  {"čec", 7},
    {"tem", 7},  {"июл", 7},  {"aug", 8},   {"août", 8}, {"ago", 8},  {"sie", 8},  {"srp", 8},
    {"ağu", 8},  {"авг", 8},  {"sep", 9},   {"sept", 9}, {"set", 9},  {"wrz", 9},  {"zář", 9},
    {"eyl", 9},  {"сен", 9},  {"okt", 10},  {"oct", 10}, {"out", 10}, {"ott", 10}, {"paź", 10},
    {"říj", 10}, {"eki", 10}, {"окт", 10},  {"nov", 11}, {"lis", 11}, {"kas", 11}, {"ноя", 11},
    {"dez", 12}, {"déc", 12}, {"dic", 12},  {"dec", 12}, {"des", 12}, {"gru", 12}, {"pro", 12},
    {"ara", 12}, {"дек", 12},
});

bool is_the_name(std::string_view word, std::string_view name) {
  if (word.size() != name.size()) return false;
  const char first = word.front() >= 'A' && word.front() <= 'Z'
                         ? static_cast<char>(word.front() - 'A' + 'a')
                         : word.front();
  return first == name.front() && word.substr(1) == name.substr(1);
}

// "3月", as in Chinese and Japanese; Korean has 월.
unsigned take_numbered_month(std::string_view& rest) {
  std::string_view text = rest;
  std::int64_t number = 0;
  if (!take_number(text, number, 2) || number < 1 || number > 12 ||
      (!take(text, "月") && !take(text, "월")))
    return 0;
  rest = text;
  return static_cast<unsigned>(number);
}

constexpr std::size_t kLongest = 8;  // bytes, with the point and the blank

// "2026 Apr 16 ..."
bool is_year_in_front(std::string_view text) {
  constexpr std::size_t kYear = 4;
  return text.size() > kYear + 1 && text[kYear] == ' ' && !is_digit(text[kYear + 1]) &&
         std::all_of(text.begin(), text.begin() + kYear, is_digit);
}

}  // namespace

bool may_begin_with_month(std::string_view text) {
  if (is_year_in_front(text)) text.remove_prefix(5);
  if (text.size() <= kLongest) return false;
  const std::string_view front = text.substr(0, kLongest);
  if (is_digit(front.front()))
    return front.find("月") != std::string_view::npos || front.find("월") != std::string_view::npos;
  const std::size_t blank = front.find(' ');
  if (blank == std::string_view::npos || blank < 3) return false;
  const std::size_t day = text.find_first_not_of(' ', blank);
  return day != std::string_view::npos && is_digit(text[day]);
}

unsigned take_month(std::string_view& rest) {
  for (unsigned i = 0; i < kEnglish.size(); ++i)
    if (take(rest, kEnglish[i])) return i + 1;
  if (rest.empty()) return 0;
  if (is_digit(rest.front())) return take_numbered_month(rest);
  const std::size_t end = rest.substr(0, kLongest).find(' ');
  if (end == std::string_view::npos || end < 3) return 0;
  std::string_view word = rest.substr(0, end);
  if (word.ends_with('.')) word.remove_suffix(1);
  for (const Name& name : kOthers)
    if (is_the_name(word, name.text)) {
      rest.remove_prefix(end);
      return name.month;
    }
  return 0;
}

}  // namespace faultline
