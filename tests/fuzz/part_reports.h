// Reports about parts of a machine, from any bytes, cut anywhere, with a restart anywhere: no
// crash, the same facts, and no fact without what makes it one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "facts_of_source.h"
#include "ingest/reader.h"

namespace faultline {

inline constexpr std::size_t kMostCarry = std::size_t{32} << 20;

inline bool has_name(const PartReport& report, std::string_view name) {
  return std::ranges::find(report.names, name, &NamedValue::name) != report.names.end();
}

inline bool is_small(const std::vector<NamedValue>& values) {
  constexpr std::size_t kMostBytes = 512;
  return values.size() <= 400 && std::ranges::all_of(values, [](const NamedValue& value) {
           return !value.name.empty() && value.name.size() <= kMostBytes &&
                  value.value.size() <= kMostBytes;
         });
}

// `check(const PartReport&)` says whether a report makes sense.
template <class Check>
void fuzz_part_reports(const std::uint8_t* data, std::size_t size, Check&& check) {
  if (size < 2) return;
  const std::size_t piece = 1 + std::size_t{4} * data[size - 1];  // its first line counts
  const bool restart = data[size - 2] % 2 == 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  const auto add = [&](const Batch& batch, FactsOfSource& facts) {
    for (const Event& event : batch.events) {
      const auto* report = std::get_if<PartReport>(&event.fact);
      if (report && (report->tool.empty() || report->values.empty() || !is_small(report->names) ||
                     !is_small(report->values) || !check(*report)))
        std::abort();
      facts.add(batch, event);
    }
  };

  FactsOfSource whole;
  Reader undisturbed(Cursor{}, Timestamp{});
  undisturbed.feed(text);
  undisturbed.close();
  add(undisturbed.take(), whole);

  FactsOfSource pieces;
  Reader reader(Cursor{}, Timestamp{});
  for (std::size_t at = 0; at < text.size();) {
    const std::string copy(text.substr(at, piece));
    reader.feed(copy);
    at += copy.size();
    add(reader.take(), pieces);
    if (!restart) continue;
    const Cursor cursor = reader.cursor();
    if (cursor.carry.size() > kMostCarry) std::abort();
    reader = Reader(cursor, Timestamp{});
    if (cursor.offset < at)  // the unfinished line comes again
      reader.feed(std::string(text.substr(cursor.offset, at - cursor.offset)));
  }
  reader.close();
  add(reader.take(), pieces);
  if (pieces != whole) std::abort();
}

}  // namespace faultline
