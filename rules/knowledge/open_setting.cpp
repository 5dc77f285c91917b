#include "rules/knowledge/open_setting.h"

#include <algorithm>
#include <array>

#include "rules/knowledge/byte_set.h"

namespace faultline {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestWay = 256;  // to the word before the value

constexpr ByteSet kOfNames("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
constexpr ByteSet kBlanks(" \t\r");
constexpr ByteSet kQuotes("\"'\\");  // and what escapes them
constexpr std::array<std::string_view, 4> kNameWords = {"name", "Name", "key", "Key"};
constexpr std::array<std::string_view, 2> kValueWords = {"value", "Value"};

void drop_back(std::string_view& text, const ByteSet& of) {
  while (!text.empty() && of.has(text.back())) text.remove_suffix(1);
}

std::size_t blanks_before(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::find_if(text, [](char c) { return !kBlanks.has(c); }) - text.begin());
}

std::string_view take_name_back(std::string_view& text) {
  const std::string_view whole = text;
  drop_back(text, kOfNames);
  return whole.substr(text.size());
}

bool take_back(std::string_view& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  return true;
}

// The name of "name": "NAME",
std::string_view named(std::string_view line) {
  drop_back(line, kBlanks);
  take_back(line, ",");
  drop_back(line, kQuotes);
  const std::string_view name = take_name_back(line);
  drop_back(line, kQuotes);
  drop_back(line, kBlanks);
  if (!take_back(line, ":") && !take_back(line, "=")) return {};
  drop_back(line, kBlanks);
  drop_back(line, kQuotes);
  const bool is_named =
      std::ranges::any_of(kNameWords, [&](std::string_view word) { return take_back(line, word); });
  return is_named && (line.empty() || !kOfNames.has(line.back()) || line.back() == '-')
             ? name
             : std::string_view();
}

// For a line with nothing but a name, such as "  name: |-": the part before the marks of a block.
std::string_view alone(std::string_view line) {
  drop_back(line, kBlanks);
  drop_back(line, ByteSet("|>+-"));
  drop_back(line, kBlanks);
  const std::string_view all = line;
  if (!take_back(line, ":")) return {};
  drop_back(line, kQuotes);
  take_name_back(line);
  drop_back(line, ByteSet(" -\"'"));
  return line.empty() ? all : std::string_view();
}

}  // namespace

// If the name is alone in its line, its blanks and its colon stay.
std::string setting_left_open(std::string_view line) {
  if (const std::string_view name = named(line); !name.empty() && name.size() <= kLongestName)
    return std::string(name);
  if (line.size() > kLongestName) return {};
  return std::string(alone(line));
}

std::optional<SettingInOne> setting_in_one(std::string_view setting, std::string_view line) {
  if (setting.ends_with(':')) {
    const std::size_t begin = blanks_before(line);
    std::string_view value = line.substr(begin);
    drop_back(value, kBlanks);
    if (begin <= blanks_before(setting) || value.find(' ') != std::string_view::npos)
      return std::nullopt;
    return SettingInOne{.text = std::string(setting).append(" ").append(line.substr(begin)),
                        .in_text = setting.size() + 1,
                        .in_line = begin};
  }
  const std::string_view way = line.substr(0, kLongestWay);
  for (const std::string_view word : kValueWords)
    for (std::size_t at = way.find(word); at != std::string_view::npos;
         at = way.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      if (at > 0 && kOfNames.has(line[at - 1])) continue;
      if (end >= line.size() || kOfNames.has(line[end])) continue;
      return SettingInOne{.text = std::string(setting).append(line.substr(end)),
                          .in_text = setting.size(),
                          .in_line = end};
    }
  return std::nullopt;
}

}  // namespace faultline
