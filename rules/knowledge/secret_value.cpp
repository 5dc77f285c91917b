#include "rules/knowledge/secret_value.h"

#include <algorithm>
#include <array>
#include <string>

namespace faultline {
namespace {

constexpr ByteSet kBeforeAValue("\t\n\f\r \"'`\\");
constexpr ByteSet kEndsOfAValue("\t\n\f\r \"'`,;&<>)]}\\\x1b");
constexpr ByteSet kQuoteBytes("\"'`");
constexpr ByteSet kEscapedBytes("\"'\\nrtu");
constexpr ByteSet kPunctuationBytes("\t\n\f\r ,;:{}()[]+=|&");
constexpr std::size_t kLongestWithBlanks = 256;

bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_large(char c) { return c >= 'A' && c <= 'Z'; }
bool is_of_digits(char c) { return c >= '0' && c <= '9'; }
bool is_of_letters(char c) { return is_small(c) || is_large(c); }

std::string in_small_letters(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = is_large(c) ? static_cast<char>(c + ('a' - 'A')) : c;
  return lower;
}

// Whether it is a word for no value or for a type, or the beginning of a sentence.
bool is_no_value(std::string_view value) {
  constexpr std::string_view kWords =
      " a an and any are as at bool bytes can cannot changed empty expired failed false field for "
      "from has hidden if in incorrect int invalid is missing must nil no none not null object of "
      "off ok on optional or redacted required reset secretstr set should str string the to true "
      "undefined unknown unset user was will with wrong yes your ";
  constexpr std::size_t kLongest = 12;
  constexpr std::string_view kNames =
      " TOKEN KEY PASSWORD SECRET API_KEY PASSPHRASE STRING TEXT VALUE STR FILE PATH ";
  while (value.ends_with('.') || value.ends_with(':')) value.remove_suffix(1);
  if (value.starts_with('(')) value.remove_prefix(1);
  if (value.ends_with(')')) value.remove_suffix(1);
  if (!value.empty() && kNames.find(' ' + std::string(value) + ' ') != kNames.npos) return true;
  if (value.empty() || value.size() > kLongest || !std::ranges::all_of(value, is_of_letters))
    return false;
  return kWords.find(' ' + in_small_letters(value) + ' ') != kWords.npos;
}

// In YAML: the value stands in the next lines.
bool is_mark_of_a_block(std::string_view value) {
  return !value.empty() && (value[0] == '|' || value[0] == '>') &&
         (value.size() == 1 || (value.size() == 2 && (value[1] == '-' || value[1] == '+')));
}

// $TOKEN, ${TOKEN:-}, $(cat x), %s, %(token)s, {}, {token}, <token>, ...
bool is_placeholder(std::string_view value) {
  const auto all = [](std::string_view text, auto fits) {
    return !text.empty() && std::ranges::all_of(text, fits);
  };
  const auto of_a_name = [](char c) {
    return is_of_letters(c) || is_of_digits(c) || c == '_' || c == '.';
  };
  if (all(value, [](char c) { return c == '.'; }) || value == "%s" || value == "%r") return true;
  if (value.starts_with('<')) return value.ends_with('>');
  if (value.starts_with("%(") || value.starts_with("$(") || value.starts_with("${")) return true;
  if (value.starts_with('$'))
    return all(value.substr(1), [](char c) { return is_large(c) || is_of_digits(c) || c == '_'; });
  if (value.starts_with('{') && value.ends_with('}'))
    return std::ranges::all_of(value.substr(1, value.size() - 2), of_a_name);
  return value == "{" || value == "[" || value == "(" || is_mark_of_a_block(value);
}

// Code that computes the value: get_token(, os.environ[, self.token, {token}
bool is_worked_out(std::string_view line, std::string_view value) {
  constexpr std::array<std::string_view, 7> kHolders{"self.", "args.",   "cfg.",     "config.",
                                                     "opts.", "kwargs.", "settings."};
  const auto in_a_name = [](char c) { return is_small(c) || c == '_' || c == '.'; };
  const auto behind = static_cast<std::size_t>(value.data() - line.data()) + value.size();
  if (value.starts_with('{') && behind < line.size() && line[behind] == '}')
    return std::ranges::all_of(value.substr(1), in_a_name);
  std::size_t letters = 0;
  while (letters < value.size() && in_a_name(value[letters])) ++letters;
  const auto at = static_cast<std::size_t>(value.data() - line.data()) + letters;
  const char next = at < line.size() ? line[at] : ' ';
  if (letters >= 3 && next == '(') return true;
  const std::size_t key = std::min(line.find_first_not_of('\\', at + 1), line.size());
  if (letters >= 3 && next == '[' && key < line.size() && kQuoteBytes.has(line[key])) return true;
  return letters == value.size() && std::ranges::any_of(kHolders, [&](std::string_view holder) {
           return value.starts_with(holder);
         });
}

bool is_path_of_file(std::string_view value) {
  constexpr std::array<std::string_view, 8> kEnds{".pem", ".key",  ".crt",  ".pub",
                                                  ".txt", ".yaml", ".json", ".toml"};
  return value.find('/') != value.npos &&
         std::ranges::any_of(kEnds, [&](std::string_view end) { return value.ends_with(end); });
}

// 2026-03-05T02:47:10Z
bool begins_with_a_day(std::string_view value) {
  constexpr std::string_view kDay = "0000-00-00";
  return value.size() >= kDay.size() &&
         std::ranges::equal(value.substr(0, kDay.size()), kDay, [](char c, char of_day) {
           return (is_of_digits(c) ? '0' : c) == of_day;
         });
}

// Counts digits beside letters, and small letters before capital ones.
bool is_mixed(std::string_view value) {
  if (begins_with_a_day(value)) return false;
  if (value.starts_with('/') || value.starts_with("./") || value.starts_with("~/")) return false;
  std::size_t digits_beside_letters = 0;
  std::size_t humps = 0;
  for (std::size_t i = 1; i < value.size(); ++i) {
    const char a = value[i - 1];
    const char b = value[i];
    if (kBlankBytes.has(b)) return false;
    digits_beside_letters +=
        (is_of_digits(a) && is_of_letters(b)) || (is_of_letters(a) && is_of_digits(b)) ? 1 : 0;
    humps += is_small(a) && is_large(b) ? 1 : 0;
  }
  return digits_beside_letters >= 2 && digits_beside_letters + humps >= 3;
}

bool is_of(std::string_view value, ValueKind kind) {
  if (value.find("****") != value.npos) return true;  // a part of it is hidden already
  if (is_no_value(value) || is_placeholder(value)) return false;
  switch (kind) {
    case ValueKind::any:
      return true;
    case ValueKind::lettered:
      return std::ranges::any_of(value, [](char c) { return is_of_letters(c) || c == '*'; });
    case ValueKind::mixed:
      return is_mixed(value);
    case ValueKind::random:
      return is_mixed(value) && std::ranges::any_of(value, is_small) &&
             std::ranges::any_of(value, is_large);
  }
  return false;
}

std::size_t behind_all(std::string_view line, std::size_t at, const ByteSet& bytes) {
  while (at < line.size() && bytes.has(line[at])) ++at;
  return at;
}

// The place of the quote that closes the one before `at`; npos: there is none.
std::size_t closing_quote(std::string_view line, std::size_t at, char quote) {
  for (; at < line.size(); ++at) {
    if (line[at] == quote) return at;
    if (line[at] == '\\') ++at;
  }
  return line.npos;
}

// In 'password=' + x, the quote after the name closes the string that began before the name.
bool closes(std::string_view line, std::size_t quote) {
  const bool is_before_a_word = quote + 1 < line.size() &&
                                !kPunctuationBytes.has(line[quote + 1]) &&
                                !kQuoteBytes.has(line[quote + 1]);
  return !is_before_a_word && std::ranges::count(line.substr(0, quote), line[quote]) % 2 == 1;
}

// True in DB_PASSWORD=a,b (a shell); false in A=1,B=2 and f(a=1, b=2).
bool goes_on_behind_comma(std::string_view line, std::size_t comma) {
  std::size_t end = comma + 1;
  while (end < line.size() && !kEndsOfAValue.has(line[end]) && line[end] != '=' && line[end] != ':')
    ++end;
  return end > comma + 1 && (end == line.size() || kBlankBytes.has(line[end]));
}

std::string_view bare_value(std::string_view line, std::size_t at, bool may_hold_commas) {
  std::size_t end = at;
  for (; end < line.size(); ++end) {
    if (!kEndsOfAValue.has(line[end])) continue;
    if (line[end] == '\\' && end + 1 < line.size() && !kEscapedBytes.has(line[end + 1])) continue;
    if (line[end] == ',' && may_hold_commas && goes_on_behind_comma(line, end)) continue;
    break;
  }
  return line.substr(at, end - at);
}

// The value after the opening quote at `quote`.
std::string_view quoted_value(std::string_view line, std::size_t quote, bool is_cut) {
  const std::size_t begin = quote + 1;
  const std::size_t end = closing_quote(line, begin, line[quote]);
  if (end == line.npos && is_cut) {
    // The line ends in half an escape: the other half is still to come.
    const std::size_t letters = line.find_last_not_of('\\') + 1;
    const bool is_half = letters >= begin && (line.size() - letters) % 2 == 1;
    return line.substr(begin, line.size() - begin - (is_half ? 1 : 0));
  }
  if (end == line.npos) return bare_value(line, begin, false);
  const std::string_view value = line.substr(begin, end - begin);
  if (std::ranges::all_of(value, [](char c) { return kPunctuationBytes.has(c); })) return {};
  if (value.size() > kLongestWithBlanks && value.find(' ') != value.npos)
    return bare_value(line, begin, false);
  return value;
}

struct NameEnd {
  std::size_t end = 0;  // of the separator and the blanks after it
  char what = 0;
  bool is_tight = false;  // no blank stands around it
};

// The separator between the name and its value; what == 0: there is none.
NameEnd separator_after(std::string_view line, std::size_t end, const ByteSet& separators) {
  std::size_t at = end;
  char quote = 0;
  if (at < line.size() && kQuoteBytes.has(line[at])) quote = line[at++];
  if (at < line.size() && line[at] == ']') ++at;
  const std::size_t after_name = at;
  at = behind_all(line, at, kBlankBytes);
  if (at >= line.size()) return {};
  const bool had_blank = at > after_name;
  char what = line[at];
  const bool blank_separates = had_blank && separators.has(' ') && line[after_name - 1] != ']';
  const bool is_next_argument = what == ',' && quote != 0 && at == end + 1;
  const std::string_view rest = line.substr(at);
  if (rest.starts_with("==")) return {};
  if ((rest.starts_with("=>") || rest.starts_with("->") || rest.starts_with(":=")) &&
      separators.has('='))
    at += 2, what = '=';
  else if ((rest.starts_with("%3D") || rest.starts_with("%3d")) && separators.has('='))
    at += 3, what = '=';
  else if ((what != ' ' && separators.has(what)) || (is_next_argument && !blank_separates))
    ++at;
  else if (blank_separates)
    what = ' ';
  else
    return {};
  const std::size_t value = behind_all(line, at, kBlankBytes);
  if (what == ',' && (quote == 0 || value >= line.size() || line[value] != quote)) return {};
  return {.end = value, .what = what, .is_tight = !had_blank && value == at};
}

// password:session, from the name of a PAM module, is no setting.
bool needs_a_digit(std::string_view line, const NameEnd& separator) {
  return separator.what == ':' && separator.is_tight && separator.end < line.size() &&
         !kQuoteBytes.has(line[separator.end]);
}

}  // namespace

std::optional<ValueKind> value_kind(std::string_view name) {
  if (name.empty() || name == "any") return ValueKind::any;
  if (name == "lettered") return ValueKind::lettered;
  if (name == "mixed") return ValueKind::mixed;
  if (name == "random") return ValueKind::random;
  return std::nullopt;
}

ValueForm::ValueForm(std::string_view its_separators, std::size_t its_least, ValueKind its_kind,
                     bool its_end)
    : separators(its_separators), least(its_least), kind(its_kind), ends(its_end) {
  behind_name = ByteSet(std::string(its_separators) + "\t\n\f\r \"'`]\\\x1b-%");
  if (its_separators == "@") only = '@';  // others are also written as arrows or escapes
  stops = ByteSet(std::string(its_separators) + "\t\n\f\r ,\x1b%>");
}

std::string_view value_after(std::string_view line, std::size_t begin, std::size_t end,
                             const ValueForm& form, bool is_cut) {
  const NameEnd separator = separator_after(line, end, form.separators);
  std::size_t at = separator.end;
  if (separator.what == 0 || at >= line.size()) return {};
  if (line[at] == '[' && at + 1 < line.size() && kQuoteBytes.has(line[at + 1])) ++at;
  if (at + 1 < line.size() && ByteSet("bruf").has(line[at]) && kQuoteBytes.has(line[at + 1])) ++at;
  std::string_view value;
  if (kQuoteBytes.has(line[at])) {
    if (closes(line, at)) return {};
    value = quoted_value(line, at, is_cut);
  } else {
    const bool is_of_a_shell = separator.what == '=' && separator.is_tight &&
                               is_large(line[begin]) &&
                               (begin == 0 || kBlankBytes.has(line[begin - 1]));
    value = bare_value(line, at, is_of_a_shell);
    if (is_worked_out(line, value) || value == line.substr(begin, end - begin)) return {};
    if (needs_a_digit(line, separator) && std::ranges::all_of(value, is_of_letters)) return {};
  }
  if (value.size() < form.least) return {};
  const bool is_next_option = form.separators.has(' ') && (value.starts_with("--") || value == "-");
  if (is_next_option || is_path_of_file(value)) return {};
  // In a list of names, too, one stands after the other.
  const bool is_weak = separator.what == ',' && !form.separators.has(',');
  return is_of(value, is_weak ? ValueKind::mixed : form.kind) ? value : std::string_view();
}

bool value_may_follow(std::string_view line, std::size_t end, const ValueForm& form) {
  if (form.only != 0 && line.find(form.only, end - 1) == line.npos) return false;
  const ByteSet& separators = form.separators;
  // The escape may stand for a blank.
  if (separators.has(' ') && end < line.size() && line[end] == '\\') return true;
  constexpr std::size_t kFarthest = 256;
  const std::size_t last = std::min(line.size(), end + kFarthest);
  const auto parts = [&](std::size_t at) {
    return separators.has(line[at]) || (line[at] == ',' && kQuoteBytes.has(line[at - 1])) ||
           line[at] == '\x1b' || line[at] == '%' || (line[at] == '>' && line[at - 1] == '-');
  };
  std::size_t at = end - 1;  // from the last byte of the literal
  for (; at < last; ++at)
    if (form.stops.has(line[at]) && (parts(at) || (at >= end && kBlankBytes.has(line[at])))) break;
  while (at < last && kBlankBytes.has(line[at])) ++at;
  if (at == last) return last < line.size();
  if (line[at] == '\\' || line[at] == '\x1b') return true;  // not known until escapes are undone
  if (parts(at) || (line[at] == '-' && line.substr(at).starts_with("->")))
    ++at;
  else if (!separators.has(' '))
    return false;
  if (at < last && (line[at] == '>' || line[at] == '=')) ++at;  // part of an arrow
  char quote = 0;
  const auto is_before_quote = [&](std::size_t place) {  // [ or b of b'value'
    return ByteSet("[bruf").has(line[place]) && place + 1 < last &&
           (kQuoteBytes.has(line[place + 1]) || line[place + 1] == '\\');
  };
  for (; at < last && quote == 0 && (kBeforeAValue.has(line[at]) || is_before_quote(at)); ++at) {
    if (kQuoteBytes.has(line[at])) quote = line[at];
    const bool is_blank = line[at] == '\\' && at + 1 < last && ByteSet("nrtux").has(line[at + 1]);
    if (is_blank) return true;  // once the escape is undone
  }
  const auto ends = [&](std::size_t place) {
    if (quote != 0) return line[place] == quote && line[place - 1] != '\\';
    return kQuoteBytes.has(line[place]) || kBlankBytes.has(line[place]);
  };
  const std::size_t value = at;
  while (at < last && at - value < form.least && !ends(at)) ++at;
  return at - value >= form.least || (at == last && last < line.size());
}

std::string_view without_end_of_string(std::string_view secret) {
  secret = secret.substr(0, secret.find('\x1b'));
  for (std::size_t at = secret.find('\\'); at != secret.npos; at = secret.find('\\', at + 1)) {
    const std::size_t letter = std::min(secret.find_first_not_of('\\', at), secret.size());
    const std::string_view rest = secret.substr(letter);
    constexpr std::array<std::string_view, 5> kEnds{"\"", "'", "u001b", "x1b", "033"};
    const bool is_end =
        std::ranges::any_of(kEnds, [&](std::string_view end) { return rest.starts_with(end); });
    if (is_end || rest.empty() || rest == "n" || rest == "r" || rest == "t")
      return secret.substr(0, at);
    at = letter;
  }
  return secret;
}

}  // namespace faultline
