#include "parsers/performance/nccl_tests_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "parsers/performance/column_names.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::size_t kMostColumns = 40;
constexpr int kGuessedColumns = 8;   // time, two bandwidths and a check, twice
constexpr double kMegabytes = 1000;  // in a GB

std::optional<std::uint64_t> whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_integer(std::string_view text) {
  take_front(text, "-");
  return whole(text).has_value();
}

bool is_word(std::string_view text) {
  return !text.empty() && text.front() >= 'a' && text.front() <= 'z';
}

// NCCL's names of types. Lines with other names are of other tools.
bool is_type(std::string_view text) {
  constexpr std::string_view kTypes[] = {
      "int8",   "uint8",   "char",     "uchar",  "int32",   "uint32",   "int",
      "uint",   "int64",   "uint64",   "half",   "float16", "float",    "float32",
      "double", "float64", "bfloat16", "f8e4m3", "f8e5m2",  "fp8_e4m3", "fp8_e5m2"};
  return std::ranges::find(kTypes, text) != std::end(kTypes);
}

std::string_view without_hash(std::string_view text) {
  text = trimmed(text);
  take_front(text, "#");
  return trimmed(text);
}

// A row without the name of a type could be of another tool. So all its words must be numbers, and
// the bus bandwidth must be about the algorithm bandwidth, or up to twice that.
bool is_row_of_numbers(const NcclTestsLayout& layout, const std::vector<std::string_view>& words) {
  if (std::ssize(words) != layout.tokens) return false;
  for (std::size_t i = 1; i < words.size(); ++i)
    if (!real(words[i])) return false;
  constexpr double kFromHere = 1;  // smaller ones are rounded
  constexpr double kLeast = 0.4;
  constexpr double kMost = 2.1;
  if (layout.algbw[0] < 0) return true;
  const double algbw = *real(words[static_cast<std::size_t>(layout.algbw[0])]);
  const double busbw = *real(words[static_cast<std::size_t>(layout.busbw[0])]);
  return algbw < kFromHere || (busbw >= kLeast * algbw && busbw <= kMost * algbw);
}

// If a collective reduces nothing, the column redop may be empty. Then all columns after it are one
// word further left.
void leave_out_empty_redop(NcclTestsLayout& layout, const std::vector<std::string_view>& words) {
  if (layout.redop < 0 || std::ssize(words) <= layout.redop || std::ssize(words) >= layout.tokens ||
      is_word(words[static_cast<std::size_t>(layout.redop)]))
    return;
  for (std::array<int, 2>* places : {&layout.algbw, &layout.busbw, &layout.wrong})
    for (int& place : *places)
      if (place > layout.redop) --place;
  layout.redop = -1;
  --layout.leading;
  --layout.tokens;
}

}  // namespace

void NcclTestsLayout::save(SavedBytesWriter& saved) const {
  for (const int place : {tokens, leading, size, type, redop, algbw[0], algbw[1], busbw[0],
                          busbw[1], wrong[0], wrong[1]})
    saved.number(place);
  saved.number(size_unit);
  saved.number(bandwidth_unit);
}

void NcclTestsLayout::restore(SavedBytesReader& saved) {
  for (int* place : {&tokens, &leading, &size, &type, &redop, &algbw[0], &algbw[1], &busbw[0],
                     &busbw[1], &wrong[0], &wrong[1]})
    *place = std::clamp(saved.small_number(), -1, 2 * static_cast<int>(kMostColumns));
  size_unit = std::max(saved.small_number(), 1);
  bandwidth_unit = std::max(saved.small_number(), 1);
}

namespace {

// The names that nccl-tests print.
std::optional<NcclTestsLayout> layout_by_names(std::string_view head) {
  if (!head.starts_with("size ") && !head.starts_with("bytes ") && !head.starts_with("timestamp "))
    return std::nullopt;
  NcclTestsLayout layout;
  int groups = 0;
  for (const std::string_view column : words_of(head, kMostColumns)) {
    const int at = layout.tokens++;
    if (column == "timestamp") ++layout.tokens;  // its value is a date and a time
    if (column == "size" || column == "bytes") layout.size = at;
    if (column == "type") layout.type = at;
    if (column == "redop" || column == "op") layout.redop = at;
    if (column == "time" && ++groups == 1) layout.leading = at;
    if (groups < 1 || groups > 2) continue;
    const auto group = static_cast<std::size_t>(groups - 1);
    if (column == "algbw") layout.algbw[group] = at;
    if (column == "busbw") layout.busbw[group] = at;
    if (column == "#wrong") layout.wrong[group] = at;
  }
  const bool complete = layout.size >= 0 && layout.type >= 0 && layout.algbw[0] >= 0 &&
                        layout.busbw[0] >= 0 && layout.algbw[1] >= 0 && layout.busbw[1] >= 0;
  return complete ? std::optional(layout) : std::nullopt;
}

// Names of other programs: a size first, and a bus bandwidth.
std::optional<NcclTestsLayout> layout_by_meaning(std::string_view head) {
  if (head.find("bw") == head.npos && head.find("BW") == head.npos &&
      head.find("andwidth") == head.npos)
    return std::nullopt;
  const std::vector<Column> columns = columns_in(head);
  if (columns.size() < 2 || columns.size() > kMostColumns || columns[0].means != Meaning::size)
    return std::nullopt;
  NcclTestsLayout layout{.tokens = static_cast<int>(columns.size()),
                         .leading = 1,
                         .size = 0,
                         .size_unit = columns[0].unit};
  for (std::size_t i = 1; i < columns.size(); ++i) {
    const Column& column = columns[i];
    const int at = static_cast<int>(i);
    if (column.means == Meaning::type) layout.type = at;
    if (column.means == Meaning::redop) layout.redop = at;
    if (column.means != Meaning::algbw && column.means != Meaning::busbw) continue;
    std::array<int, 2>& places = column.means == Meaning::algbw ? layout.algbw : layout.busbw;
    if (places[0] >= 0 && places[1] >= 0) return std::nullopt;
    (places[0] < 0 ? places[0] : places[1]) = at;
    layout.bandwidth_unit = column.unit;
  }
  if (layout.type >= 0) layout.leading = std::max(layout.type, layout.redop) + 1;
  return layout.busbw[0] >= 0 ? std::optional(layout) : std::nullopt;
}

// Whether bytes and time give the bandwidth that is printed beside them. True if nothing was
// measured.
bool fits_together(double bytes, std::string_view time, std::string_view bandwidth) {
  constexpr double kRounded = 0.02;  // GB/s
  constexpr double kShare = 0.03;
  const auto us = real(time);
  const auto told = real(bandwidth);
  if (!us || !told) return time == "N/A" || bandwidth == "N/A";
  if (*us <= 0) return *us == 0;
  const double made = bytes / *us / 1e3;
  return std::abs(made - *told) <= kRounded + kShare * made;
}

}  // namespace

std::optional<NcclTestsLayout> nccl_tests_layout(std::string_view head) {
  head = without_hash(head);
  const auto layout = layout_by_names(head);
  return layout ? layout : layout_by_meaning(head);
}

std::optional<NcclTestsLayout> guessed_nccl_tests_layout(std::string_view row) {
  const auto words = words_of(row, kMostColumns);
  if (words.size() < 3 || !whole(words[0]) || !whole(words[1]) || !is_type(words[2]))
    return std::nullopt;
  NcclTestsLayout layout{.size = 0, .type = 2};
  std::size_t next = 3;
  if (next < words.size() && is_word(words[next])) layout.redop = static_cast<int>(next++);
  const bool rooted = next + kGuessedColumns < words.size() && is_integer(words[next]);
  if (rooted) ++next;
  if (words.size() != next + kGuessedColumns) return std::nullopt;
  layout.leading = static_cast<int>(next);
  layout.tokens = layout.leading + kGuessedColumns;
  // A row of another layout, or a piece of it, may have the same number of words.
  const auto size = real(words[0]);
  for (const std::size_t time : {next, next + 4})
    if (!size || !fits_together(*size, words[time], words[time + 1])) return std::nullopt;
  for (std::size_t group = 0; group < 2; ++group) {
    const int time = layout.leading + 4 * static_cast<int>(group);
    layout.algbw[group] = time + 1;
    layout.busbw[group] = time + 2;
    // Tables with both columns count wrong values; older tables print a deviation.
    if (rooted && layout.redop >= 0) layout.wrong[group] = time + 3;
  }
  return layout;
}

std::optional<NcclTestsRow> nccl_tests_row(NcclTestsLayout layout, std::string_view text) {
  const auto words = words_of(text, kMostColumns + 2);
  leave_out_empty_redop(layout, words);
  const auto word = [&](int at) {
    const auto index = static_cast<std::size_t>(at);
    return at >= 0 && index < words.size() ? words[index] : std::string_view();
  };
  const auto size = size_in(word(layout.size), layout.size_unit);
  if (!size || (layout.type >= 0 && !is_type(word(layout.type)))) return std::nullopt;
  NcclTestsRow row{.size = *size, .redop = std::string(word(layout.redop).substr(0, 16))};
  const int count = static_cast<int>(words.size());
  if (layout.type < 0 && !is_row_of_numbers(layout, words)) return std::nullopt;
  if (count <= layout.leading) return row;
  if (count != layout.tokens) {
    // Ignore times that are mixed with the words of another process.
    if (real(word(layout.leading))) return std::nullopt;
    row.torn = true;
    return row;
  }
  row.measured = true;
  for (std::size_t group = 0; group < 2; ++group) {
    const auto busbw = real(word(layout.busbw[group]));
    const auto algbw =
        layout.algbw[group] < 0 ? std::optional(0.0) : real(word(layout.algbw[group]));
    if (!algbw || !busbw) {
      // Some programs measure nothing in place and print N/A.
      if (group == 0) return std::nullopt;
      continue;
    }
    row.algbw[group] = *algbw * layout.bandwidth_unit / kMegabytes;
    row.busbw[group] = *busbw * layout.bandwidth_unit / kMegabytes;
    const std::string_view wrong = word(layout.wrong[group]);
    if (wrong.find('.') == wrong.npos) row.wrong[group] = real(wrong);  // a count: 12, 1e+06
  }
  return row;
}

std::optional<NcclTestsTimes> nccl_tests_times(std::uint64_t bytes, std::string_view text) {
  constexpr std::size_t kTimes = 4;  // a time, two bandwidths and a check
  const auto words = words_of(text, kTimes + 1);
  if (words.size() < kTimes) return std::nullopt;
  const auto algbw = real(words[1]);
  const auto busbw = real(words[2]);
  if (!algbw || !busbw || !fits_together(static_cast<double>(bytes), words[0], words[1]))
    return std::nullopt;
  const std::string_view check = words[3];
  NcclTestsTimes times{.algbw = *algbw, .busbw = *busbw};
  times.wrong = real(check);
  times.torn = words.size() > kTimes || (!times.wrong && check != "N/A");
  if (times.torn) times.wrong = std::nullopt;  // its digits may be another process's
  return times;
}

}  // namespace faultline
