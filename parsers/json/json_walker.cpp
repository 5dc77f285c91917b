#include "parsers/json/json_walker.h"

#include <charconv>

namespace faultline {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxPath = 4096;
constexpr std::size_t kMaxBrokenString = 4096;

// In the saved state: the document stopped within a string.
constexpr std::int64_t kInString = 16;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

// The length of a string whose opening quotation mark was taken off; npos if it has no end.
std::size_t string_length(std::string_view text) {
  std::size_t at = text.find_first_of("\"\\");
  while (at != std::string_view::npos && text[at] == '\\') at = text.find_first_of("\"\\", at + 2);
  return at;
}

std::size_t token_length(std::string_view text) {
  return std::min(text.find_first_of(" \t\r\n,:{}[]\""), text.size());
}

bool is_word(std::string_view text) { return text == "true" || text == "false" || text == "null"; }

bool is_number(std::string_view text) {
  return text.find_first_not_of("+-.0123456789eE") == std::string_view::npos;
}

}  // namespace

std::optional<std::int64_t> JsonValue::integer() const {
  return kind == Kind::number ? number_in<std::int64_t>(text) : std::nullopt;
}

std::optional<std::uint64_t> JsonValue::count() const {
  return kind == Kind::number ? number_in<std::uint64_t>(text) : std::nullopt;
}

JsonWalker::State JsonWalker::read(std::string_view text, JsonSink& sink) {
  if (!in_string_) return read_on(text, sink);
  in_string_ = false;
  while (text.ends_with('\r')) text.remove_suffix(1);
  joined_ = '"';
  joined_ += string_;
  joined_ += text;
  string_.clear();
  return read_on(joined_, sink);
}

JsonWalker::State JsonWalker::read_on(std::string_view text, JsonSink& sink) {
  rest_ = {};
  while (true) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    if (text.empty()) return State::inside;
    const char first = text.front();
    bool good = false;
    switch (first) {
      case '{':
      case '[':
        good = open(first == '[');
        text.remove_prefix(1);
        break;
      case '}':
      case ']':
        good = close(first == ']', sink);
        text.remove_prefix(1);
        if (good && frames_.empty()) {
          rest_ = text;
          return State::complete;
        }
        break;
      case ':':
        good = expect_ == Expect::colon;
        expect_ = Expect::value;
        text.remove_prefix(1);
        break;
      case ',':
        good = expect_ == Expect::comma_or_end;
        expect_ = !frames_.empty() && frames_.back().array ? Expect::value : Expect::key;
        text.remove_prefix(1);
        break;
      case '"': {
        text.remove_prefix(1);
        const std::size_t length = string_length(text);
        if (length == std::string_view::npos) {
          if (text.size() > kMaxBrokenString) return State::broken;
          in_string_ = true;
          string_ = text;
          return State::inside_string;
        }
        const std::string_view string = text.substr(0, length);
        text.remove_prefix(length + 1);
        if (expect_ == Expect::key || expect_ == Expect::key_or_end) {
          good = take_key(string, sink);
        } else if (expect_ == Expect::value || expect_ == Expect::value_or_end) {
          good = !frames_.empty();
          sink.value(path_, {JsonValue::Kind::string, string});
          value_ends();
        }
        break;
      }
      default: {
        const std::string_view token = text.substr(0, token_length(text));
        text.remove_prefix(token.size());
        good = !frames_.empty() && (expect_ == Expect::value || expect_ == Expect::value_or_end) &&
               (is_word(token) || is_number(token));
        if (!good) break;
        sink.value(path_,
                   {is_word(token) ? JsonValue::Kind::word : JsonValue::Kind::number, token});
        value_ends();
      }
    }
    if (!good) return State::broken;
  }
}

bool JsonWalker::open(bool array) {
  if (expect_ != Expect::value && expect_ != Expect::value_or_end) return false;
  if (frames_.size() == kMaxDepth) return false;
  frames_.push_back({array, path_.size()});
  expect_ = array ? Expect::value_or_end : Expect::key_or_end;
  return true;
}

bool JsonWalker::close(bool array, JsonSink& sink) {
  const bool may_end = expect_ == Expect::comma_or_end ||
                       expect_ == (array ? Expect::value_or_end : Expect::key_or_end);
  if (frames_.empty() || frames_.back().array != array || !may_end) return false;
  path_.resize(frames_.back().path);
  frames_.pop_back();
  if (!array) sink.closed_object(path_);
  value_ends();
  return true;
}

bool JsonWalker::take_key(std::string_view key, JsonSink& sink) {
  path_.resize(frames_.back().path);
  if (path_.size() + key.size() >= kMaxPath) return false;
  if (!path_.empty()) path_ += '/';
  path_ += key;
  expect_ = Expect::colon;
  sink.key(path_);
  return true;
}

void JsonWalker::value_ends() {
  if (!frames_.empty()) path_.resize(frames_.back().path);
  expect_ = Expect::comma_or_end;
}

void JsonWalker::save(SavedBytesWriter& saved) const {
  saved.number(static_cast<std::int64_t>(expect_) + (in_string_ ? kInString : 0));
  saved.text(path_);
  saved.number(static_cast<std::int64_t>(frames_.size()));
  for (const Frame& frame : frames_)
    saved.number(static_cast<std::int64_t>(frame.path * 2 + (frame.array ? 1 : 0)));
  if (in_string_) saved.text(string_);
}

void JsonWalker::restore(SavedBytesReader& saved) {
  *this = {};
  std::int64_t expect = saved.number();
  const bool in_string = expect >= kInString;
  if (in_string) expect -= kInString;
  const std::string_view path = saved.text();
  const std::int64_t depth = saved.number();
  std::vector<Frame> frames;
  bool good = expect >= 0 && expect <= static_cast<std::int64_t>(Expect::comma_or_end) &&
              depth >= 0 && depth <= static_cast<std::int64_t>(kMaxDepth);
  for (std::int64_t i = 0; good && i < depth; ++i) {
    const std::int64_t frame = saved.number();
    const auto length = static_cast<std::size_t>(frame / 2);
    good = frame >= 0 && length <= path.size();
    frames.push_back({frame % 2 != 0, length});
  }
  const std::string_view string = in_string ? saved.text() : std::string_view();
  if (!good || !saved.ok() || string.size() > kMaxBrokenString) return;
  in_string_ = in_string;
  string_ = string;
  expect_ = static_cast<Expect>(expect);
  path_ = path;
  frames_ = std::move(frames);
}

}  // namespace faultline
