#include "rules/knowledge/xid_details.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "rules/knowledge/catalog.h"

namespace faultline {
namespace {

constexpr int kNvlinkError = 74;
constexpr int kRecoveryAction = 154;
constexpr int kFirstNvlink5 = 144;
constexpr int kLastNvlink5 = 150;
constexpr std::size_t kMostWords = 16;

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

std::string_view take_word(std::string_view& text) {
  skip_blanks(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

bool take(std::string_view& text, std::string_view literal) {
  skip_blanks(text);
  if (!text.starts_with(literal)) return false;
  text.remove_prefix(literal.size());
  return true;
}

template <class Number>
bool take_number(std::string_view& text, Number& number, int base = 10) {
  skip_blanks(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

// "0x0, 0x10000)" or "0x0 0x10000]" after the opening bracket. A text without the closing bracket
// was cut, so its last word is dropped.
std::vector<std::uint64_t> take_words(std::string_view& text, char close) {
  std::vector<std::uint64_t> words;
  while (words.size() < kMostWords) {
    std::uint64_t word = 0;
    if (!take(text, "0x") || !take_number(text, word, 16)) break;
    words.push_back(word);
    take(text, ",");
  }
  if (!take(text, std::string_view(&close, 1)) && !words.empty()) words.pop_back();
  return words;
}

// NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)
void read_nvlink(std::string_view text, XidWords& words) {
  const std::size_t at = text.find("link ");
  if (at == std::string_view::npos) return;
  text.remove_prefix(at + 5);
  int link = 0;
  if (!take_number(text, link)) return;
  words.link = link;
  if (take(text, "(")) words.words = take_words(text, ')');
}

// NETIR_LINK_EVT  Fatal   XC0 i0 Link 08 (0x004505c6 0x00000000 …), and before driver 575
// NETIR_LINK_EVT Fatal XC 1 i 2 Link 01 [0x0000000a]
void read_nvlink5(std::string_view text, XidWords& words) {
  words.unit = take_word(text);
  words.printed = take_word(text);
  const std::size_t at = text.find("Link");
  if (at == std::string_view::npos) return;
  text.remove_prefix(at + 4);
  int link = 0;
  if (!take_number(text, link)) return;
  if (link >= 0) words.link = link;
  if (take(text, "(")) {
    words.words = take_words(text, ')');
  } else if (take(text, "[")) {
    words.old_layout = true;
    words.words = take_words(text, ']');
  }
}

bool among(const XidDetail& row, std::uint64_t value) {
  return std::ranges::any_of(
      row.values, [&](const auto& range) { return range.first <= value && value <= range.second; });
}

bool is_about(const XidDetail& row, const XidMeaning& meaning) {
  return row.any_program ? is_of(meaning.cause, Family::software)
                         : std::ranges::find(row.codes, meaning.code) != row.codes.end();
}

bool matches(const XidDetail& row, const XidWords& words, std::string_view detail) {
  if (!row.units.empty() && std::ranges::none_of(row.units, [&](const std::string& unit) {
        return words.unit.starts_with(unit);
      }))
    return false;
  switch (row.field) {
    case XidField::text:
      return detail.find(row.text) != std::string_view::npos;
    case XidField::to:
      return words.recovery == row.text;
    case XidField::printed:
      return words.printed == row.text;
    case XidField::subcode:
      return !words.old_layout && words.words.size() >= 2 &&
             among(row, words.words.front() >> 20U & 0x3fU);
    case XidField::status:
      return words.words.size() >= 2 && among(row, words.words[1]);
    case XidField::bits:
      for (std::uint64_t bit = 0; bit < 32 && !words.words.empty(); ++bit)
        if ((words.words.front() >> bit & 1U) != 0 && among(row, bit)) return true;
      return false;
  }
  return false;
}

}  // namespace

XidWords words_of(int code, std::string_view detail) {
  XidWords words;
  if (code == kNvlinkError || detail.starts_with("NVLink: ")) read_nvlink(detail, words);
  if (code >= kFirstNvlink5 && code <= kLastNvlink5) read_nvlink5(detail, words);
  if (code == kRecoveryAction) {
    // GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)
    const std::size_t begin = detail.rfind('(');
    const std::size_t end = detail.rfind(')');
    const bool changed = detail.find(" to ") != std::string_view::npos;
    if (changed && begin != std::string_view::npos && end != std::string_view::npos && begin < end)
      words.recovery = detail.substr(begin + 1, end - begin - 1);
  }
  return words;
}

XidReading read_xid(const Catalog& catalog, const XidMeaning& meaning, std::string_view detail) {
  XidReading reading{
      .cause = meaning.cause, .severity = meaning.severity, .impact = meaning.impact};
  const XidWords words = words_of(meaning.code, detail);
  const XidDetail* best = nullptr;
  const auto severity_of = [&](const XidDetail& row) {
    return row.severity.value_or(meaning.severity);
  };
  for (const XidDetail& row : catalog.xid_details) {
    if (!is_about(row, meaning)) continue;
    if (!matches(row, words, detail)) continue;
    if (best == nullptr || severity_of(row) > severity_of(*best)) best = &row;
  }
  if (words.link) reading.says = fmt::format("link {}", *words.link);
  if (best == nullptr) return reading;
  if (best->cause != Cause::none) reading.cause = best->cause;
  if (!best->impact.empty()) reading.impact = best->impact;
  reading.severity = severity_of(*best);
  reading.echo = best->echo;
  reading.says += fmt::format("{}{}", reading.says.empty() ? "" : ": ", best->meaning);
  reading.action = best->action;
  return reading;
}

}  // namespace faultline
