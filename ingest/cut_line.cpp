#include "ingest/cut_line.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ingest/unwrap/framed.h"
#include "parsers/torch/torch_watchdog.h"

namespace faultline {
namespace {

constexpr std::size_t kLongestRow = 1024;

void append_row(std::string& line, std::string_view row, std::string_view between) {
  // A blank at the border may be lost.
  const bool ends_a_word = line.ends_with(',') || line.ends_with(':');
  if (!row.starts_with(' ')) line.append(ends_a_word ? " " : between);
  line += row;
}

}  // namespace

bool may_go_on_with_line(std::string_view row) {
  constexpr std::string_view kBegin[] = {"Watchdog caught", "Rank ", "[PG "};
  return row.size() <= kLongestRow && !begins_a_line(row) &&
         std::ranges::none_of(kBegin, [&](std::string_view begin) {
           return row.find(begin) != std::string_view::npos;
         });
}

std::optional<WholeLine> whole_line(const Remark& begun, std::span<const std::string> more,
                                    std::string_view last) {
  for (const std::string_view between : {"", " "}) {
    WholeLine whole{.fact = {}, .text = begun.text};
    for (const std::string& row : more) append_row(whole.text, row, between);
    append_row(whole.text, last, between);
    std::vector<Reading> readings;
    if (!is_whole_torch_timeout(whole.text) || !parse_torch_timeout(whole.text, readings)) continue;
    if (readings.size() != 1) continue;
    whole.fact = std::move(readings.front().fact);
    return whole;
  }
  return std::nullopt;
}

}  // namespace faultline
