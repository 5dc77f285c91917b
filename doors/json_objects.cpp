#include "doors/json_objects.h"

#include <algorithm>
#include <cstddef>

namespace faultline {
namespace {

constexpr std::string_view kBetween = " \t\r\n,";

// Looking for the end of an object that has none costs time: a body may consist of beginnings.
// After so many of them an object has to end on its line.
constexpr std::size_t kMostFailed = 16;

}  // namespace

// The length of the object at the start of the rest; 0: it does not end.
std::size_t JsonObjects::object_length() {
  std::size_t depth = 0;
  bool in_text = false;
  for (std::size_t at = 0; at < rest_.size(); ++at) {
    const char c = rest_[at];
    // A line that broke off must not take the next one with it.
    if (c == '\n' && (in_text || failed_ >= kMostFailed)) break;
    if (in_text) {
      if (c == '\\')
        ++at;
      else if (c == '"')
        in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return at + 1;
    }
  }
  ++failed_;
  return 0;
}

bool JsonObjects::next(JsonPiece& piece) {
  const auto skip = [&](std::string_view characters) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(characters), rest_.size()));
  };
  skip(kBetween);
  // The brackets of lists around the objects say nothing.
  while (!rest_.empty() && (rest_.front() == '[' || rest_.front() == ']')) {
    rest_.remove_prefix(1);
    skip(kBetween);
  }
  if (rest_.empty()) return false;
  const std::size_t length = rest_.front() == '{' ? object_length() : 0;
  piece.is_object = length > 0;
  // After what is no object, the next line may begin one.
  piece.text = rest_.substr(0, length > 0 ? length : std::min(rest_.find('\n'), rest_.size()));
  rest_.remove_prefix(piece.text.size());
  return true;
}

}  // namespace faultline
