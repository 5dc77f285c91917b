// Any text as a query: what is read, written again, is read the same; an accepted name can be
// shown; a cursor returns what was put into it.
#include "http/query.h"

#include <fmt/format.h>

#include "oracle.h"
#include "parsers/torch/pickle.h"

namespace {

using namespace faultline;

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

void read_again(const QueryString& query) {
  std::string text;
  for (const auto& [name, value] : query.all())
    text += (text.empty() ? "" : "&") + encoded(name) + "=" + encoded(value);
  const auto again = QueryString::parse(text);
  require(again.has_value() && again->all() == query.all(), "a query written again is the same");
}

void read_values(const QueryString& query) {
  constexpr std::uint64_t kSmallest = 2;
  constexpr std::uint64_t kLargest = 5000;
  for (const auto& [name, value] : query.all()) {
    require(query.text(name) == value, "a parameter has its value");
    const auto number = query.number(name, kSmallest, kLargest);
    if (number.has_value() && *number)
      require(**number >= kSmallest && **number <= kLargest, "a number lies between its bounds");
    (void)query.boolean(name);
    (void)query.time(name);
    (void)query.time_or_age(name, Timestamp{});
  }
}

void check_names(std::string_view text) {
  if (check_name("job", text).has_value())
    require(is_utf8(text) && !text.empty() && text.size() <= 512 &&
                !has_control_characters(text, false),
            "a name that is taken can be shown");
  const std::string printable = printable_name(text);
  require(is_utf8(printable) && !has_control_characters(printable, false),
          "a printable name can be shown");
  require(printable_name(printable) == printable, "a printable name is left as it is");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  if (const auto query = QueryString::parse(text); query.has_value()) {
    read_again(*query);
    read_values(*query);
    (void)query->with_json(text, {"a", "verdict"});
  }
  check_names(text);
  const auto last_seen = last_seen_of(cursor_for(text));
  require(last_seen.has_value() && *last_seen == text, "a cursor tells what it was made of");
  (void)last_seen_of(text);
  const auto decoded = percent_decoded(encoded(text));
  require(decoded.has_value() && *decoded == text, "what was encoded is decoded");
  return 0;
}
