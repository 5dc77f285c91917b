#include "http/query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/json.hpp>

#include <algorithm>
#include <charconv>

#include "model/duration.h"

namespace faultline {
namespace {

constexpr std::size_t kMaxNameBytes = 512;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Error invalid(std::string message) { return {Error::Kind::invalid_input, std::move(message)}; }

std::string with_blanks(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), '+', ' ');
  return out;
}

// Characters that are invisible, or turn the text beside them around: a name with one looks like
// another name.
bool is_unseen(std::string_view character) {
  const bool spaces_and_marks = character >= "\u200b" && character <= "\u200f";
  const bool embeddings = character >= "\u2028" && character <= "\u202e";
  const bool joiners_and_isolates = character >= "\u2060" && character <= "\u206f";
  return spaces_and_marks || embeddings || joiners_and_isolates || character == "\ufeff";
}

// The length of the printable character that `text` begins with; 0 if it begins with none.
std::size_t printable_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Overlong forms, surrogates and what lies beyond Unicode.
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;
  if (lead == 0xed && byte(1) > 0x9f) return 0;
  if (lead == 0xf0 && byte(1) < 0x90) return 0;
  if (lead == 0xf4 && byte(1) > 0x8f) return 0;
  if (lead == 0xc2 && byte(1) < 0xa0) return 0;  // C1 controls
  return is_unseen(text.substr(0, length)) ? 0 : length;
}

}  // namespace

Result<std::string> percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0)
      return invalid(
          fmt::format("\"{}\" has a % without two hexadecimal digits after it; write %25 "
                      "for the sign itself",
                      printable_name(text)));
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

Result<QueryString> QueryString::parse(std::string_view text) {
  QueryString query;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    Result<std::string> name = percent_decoded(with_blanks(pair.substr(0, equals)));
    if (!name) return name.error();
    Result<std::string> value =
        percent_decoded(with_blanks(pair.substr(std::min(pair.size(), equals + 1))));
    if (!value) return value.error();
    if (query.has(*name))
      return invalid(fmt::format("the query parameter \"{}\" is given twice; give it once",
                                 printable_name(*name)));
    query.values_.emplace_back(std::move(*name), std::move(*value));
  }
  return query;
}

bool QueryString::has(std::string_view name) const {
  return std::any_of(values_.begin(), values_.end(),
                     [&](const auto& v) { return v.first == name; });
}

std::optional<std::string> QueryString::text(std::string_view name) const {
  for (const auto& [known, value] : values_)
    if (known == name) return value;
  return std::nullopt;
}

Result<std::optional<std::uint64_t>> QueryString::number(std::string_view name,
                                                         std::uint64_t smallest,
                                                         std::uint64_t largest) const {
  const std::optional<std::string> value = text(name);
  if (!value) return std::optional<std::uint64_t>{};
  std::uint64_t number = 0;
  const char* end = value->data() + value->size();
  const auto [stop, error] = std::from_chars(value->data(), end, number);
  if (error == std::errc{} && stop == end && number >= smallest && number <= largest)
    return std::optional{number};
  const std::string upto = largest == UINT64_MAX ? "up" : fmt::format("to {}", largest);
  return invalid(fmt::format("{} must be a whole number from {} {}, not \"{}\"", name, smallest,
                             upto, printable_name(*value)));
}

Result<bool> QueryString::boolean(std::string_view name) const {
  const std::optional<std::string> value = text(name);
  if (!value || *value == "false" || *value == "0") return false;
  if (*value == "true" || *value == "1") return true;
  return invalid(fmt::format("{} must be true or false, not \"{}\"", name, printable_name(*value)));
}

Result<std::optional<Timestamp>> QueryString::time(std::string_view name) const {
  const std::optional<std::string> value = text(name);
  if (!value) return std::optional<Timestamp>{};
  if (const std::optional<Timestamp> time = parse_rfc3339(*value)) return time;
  return invalid(fmt::format("{} must be a time such as 2026-03-05T02:47:11Z, not \"{}\"", name,
                             printable_name(*value)));
}

Result<std::optional<Timestamp>> QueryString::time_or_age(std::string_view name,
                                                          Timestamp now) const {
  const std::optional<std::string> value = text(name);
  if (!value) return std::optional<Timestamp>{};
  if (const std::optional<Timestamp> at = parse_rfc3339(*value)) return at;
  if (const auto age = parse_duration(*value)) return std::optional<Timestamp>{now - *age};
  return invalid(fmt::format(
      "{} must be a time such as 2026-03-05T02:47:11Z, or an age such as 90m or 2h, not "
      "\"{}\"",
      name, printable_name(*value)));
}

Result<QueryString> QueryString::with_json(std::string_view body,
                                           const std::vector<std::string_view>& names) const {
  QueryString query = *this;
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return query;
  boost::system::error_code error;
  const boost::json::value document = boost::json::parse(body, error);
  if (error || !document.is_object())
    return invalid(fmt::format("the body must be a JSON object with {}", fmt::join(names, ", ")));
  for (const auto& [key, value] : document.as_object()) {
    const std::string_view name = key;
    if (std::ranges::find(names, name) == names.end())
      return invalid(fmt::format("unknown member \"{}\"; those taken here are {}",
                                 printable_name(name), fmt::join(names, ", ")));
    if (!value.is_string()) return invalid(fmt::format("{} must be a text", printable_name(name)));
    if (query.has(name))
      return invalid(fmt::format("\"{}\" is given twice; give it once", printable_name(name)));
    query.values_.emplace_back(name, value.as_string());
  }
  return query;
}

Result<void> check_name(std::string_view what, std::string_view text) {
  if (text.empty()) return invalid(fmt::format("{} is empty; give it a name", what));
  if (text.size() > kMaxNameBytes)
    return invalid(fmt::format("{} is {} bytes long; the longest allowed is {}", what, text.size(),
                               kMaxNameBytes));
  // Clients remove these from the path of an address.
  if (text == "." || text == "..")
    return invalid(fmt::format("{} may not be \"{}\"; give it another name", what, text));
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = printable_length(rest);
    if (length == 0)
      return invalid(
          fmt::format("{} must be printable UTF-8, without control or invisible characters", what));
    rest.remove_prefix(length);
  }
  return {};
}

std::string printable_name(std::string_view text) {
  std::string out;
  while (!text.empty() && out.size() < kMaxNameBytes) {
    const std::size_t length = printable_length(text);
    if (length == 0) {
      out += '?';
      text.remove_prefix(1);
    } else if (out.size() + length > kMaxNameBytes) {
      break;
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out;
}

std::string cursor_for(std::string_view last_seen) {
  std::string out;
  for (const char c : last_seen) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

Result<std::string> last_seen_of(std::string_view cursor) {
  std::string out;
  bool good = cursor.size() % 2 == 0;
  for (std::size_t i = 0; good && i < cursor.size(); i += 2) {
    const int high = hex_digit(cursor[i]);
    const int low = hex_digit(cursor[i + 1]);
    good = high >= 0 && low >= 0;
    out += static_cast<char>(high * 16 + low);
  }
  if (!good)
    return invalid("cursor is not valid; pass the next_cursor of the last answer unchanged");
  return out;
}

}  // namespace faultline
