// Reports on parts of a machine: each has the names and values that it needs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "any_bytes.h"

namespace faultline {

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

inline void print(const PartReport& report) {
  std::fprintf(stderr, "makes no sense: %s of %s, %zu values\n", report.kind.c_str(),
               report.tool.c_str(), report.values.size());
  for (const auto* pairs : {&report.names, &report.values})
    for (const NamedValue& pair : *pairs)
      std::fprintf(stderr, "  %s: %s\n", pair.name.c_str(), pair.value.c_str());
}

// `check(const PartReport&)` says whether a report makes sense.
template <class Check>
void fuzz_part_reports(const std::uint8_t* data, std::size_t size, Check&& check) {
  read_anyhow(data, size, [&](const Fact& fact) {
    const auto* report = std::get_if<PartReport>(&fact);
    if (report == nullptr ||
        (!report->tool.empty() && !report->values.empty() && is_small(report->names) &&
         is_small(report->values) && check(*report)))
      return true;
    print(*report);
    return false;
  });
}

}  // namespace faultline
