#include "parsers/performance/column_names.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr int kKibi = 1024;

// A name that has several words is written as one word here.
struct Name {
  std::string_view name;
  Meaning means;
};
constexpr Name kNames[] = {
    {"size", Meaning::size},           {"bytes", Meaning::size},
    {"messagesize", Meaning::size},    {"msgsize", Meaning::size},
    {"datasize", Meaning::size},       {"buffersize", Meaning::size},
    {"type", Meaning::type},           {"redop", Meaning::redop},
    {"algbw", Meaning::algbw},         {"algobw", Meaning::algbw},
    {"algorithmbw", Meaning::algbw},   {"algbandwidth", Meaning::algbw},
    {"algobandwidth", Meaning::algbw}, {"algorithmbandwidth", Meaning::algbw},
    {"busbw", Meaning::busbw},         {"busbandwidth", Meaning::busbw},
    {"count", Meaning::other},         {"root", Meaning::other},
    {"time", Meaning::other},          {"latency", Meaning::other},
    {"wrong", Meaning::other},         {"error", Meaning::other},
};
constexpr std::size_t kLongestName = 24;

struct Unit {
  std::string_view name;
  int factor;
};
constexpr Unit kSizes[] = {{"b", 1},
                           {"bytes", 1},
                           {"kb", kKibi},
                           {"kib", kKibi},
                           {"mb", kKibi* kKibi},
                           {"mib", kKibi* kKibi},
                           {"gb", kKibi* kKibi* kKibi},
                           {"gib", kKibi* kKibi* kKibi}};

// Case matters: b means bits, B means bytes.
constexpr Unit kRates[] = {{"GB/s", 1000}, {"GB/sec", 1000}, {"GiB/s", 1074}, {"MB/s", 1},
                           {"MB/sec", 1},  {"Gb/s", 125},    {"Gbps", 125},   {"Gbit/s", 125}};

std::string lower(std::string_view text) {
  std::string low(text);
  for (char& c : low)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return low;
}

bool is_bandwidth(Meaning means) { return means == Meaning::algbw || means == Meaning::busbw; }

// False: the unit is not known, so the numbers of the column mean nothing.
bool set_unit(Column& column, std::string_view unit) {
  if (column.means == Meaning::size) {
    const auto known = std::ranges::find(kSizes, lower(unit), &Unit::name);
    if (known == std::end(kSizes)) return false;
    column.unit = known->factor;
  } else if (is_bandwidth(column.means)) {
    const auto known = std::ranges::find(kRates, unit, &Unit::name);
    if (known == std::end(kRates)) return false;
    column.unit = known->factor;
  }
  return true;
}

// The letters of a name. The name of a column of checks begins with a hash.
std::string letters_of(std::string_view name) {
  take_front(name, "#");
  std::string letters;
  for (const char c : lower(name))
    if (c != '_' && c != '-') letters += c;
  return letters;
}

const Name* name_of(std::string_view letters) {
  const auto known = std::ranges::find(kNames, letters, &Name::name);
  return known == std::end(kNames) ? nullptr : &*known;
}

}  // namespace

std::vector<Column> columns_in(std::string_view head) {
  std::vector<Column> columns;
  std::string name;  // the words so far, which are not yet a whole name
  for (std::string_view word : words_of(head, 40)) {
    const std::size_t bracket = word.find_first_of("([");
    std::string_view unit;
    if (bracket != std::string_view::npos) {
      if (!word.ends_with(')') && !word.ends_with(']')) return {};
      unit = word.substr(bracket + 1, word.size() - bracket - 2);
      word = word.substr(0, bracket);
      if (word.empty()) {  // a unit that follows its name as a word of its own
        if (!name.empty() || columns.empty() || !set_unit(columns.back(), unit)) return {};
        continue;
      }
    }
    name += letters_of(word);
    if (name.size() > kLongestName) return {};
    if (const Name* known = name_of(name)) {
      Column column{.means = known->means, .unit = is_bandwidth(known->means) ? 1000 : 1};
      if (!unit.empty() && !set_unit(column, unit)) return {};
      columns.push_back(column);
      name.clear();
    }
  }
  return name.empty() ? columns : std::vector<Column>();
}

std::optional<std::uint64_t> size_in(std::string_view text, int unit) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  std::string suffix = lower(text.substr(static_cast<std::size_t>(end - text.data())));
  auto factor = static_cast<std::uint64_t>(unit);
  if (!suffix.empty()) {
    if (suffix.size() == 1 && suffix != "b") suffix += 'b';
    const auto known = std::ranges::find(kSizes, suffix, &Unit::name);
    if (known == std::end(kSizes)) return std::nullopt;
    factor = static_cast<std::uint64_t>(known->factor);
  }
  if (value > std::numeric_limits<std::int64_t>::max() / factor) return std::nullopt;
  return value * factor;
}

}  // namespace faultline
