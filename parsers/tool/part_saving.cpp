#include "parsers/tool/part_saving.h"

namespace faultline {

void save_values(SavedBytesWriter& saved, const std::vector<NamedValue>& values) {
  saved.number(static_cast<std::int64_t>(values.size()));
  for (const NamedValue& value : values) {
    saved.text(value.name);
    saved.text(value.value);
  }
}

std::vector<NamedValue> restored_values(SavedBytesReader& saved) {
  std::vector<NamedValue> values;
  const std::int64_t count = saved.number();
  for (std::int64_t i = 0; i < count && saved.ok(); ++i) {
    NamedValue& value = values.emplace_back();
    value.name = saved.text();
    value.value = saved.text();
  }
  return values;
}

void save_part(SavedBytesWriter& saved, const PartReport& report) {
  saved.text(report.tool);
  saved.text(report.kind);
  save_values(saved, report.names);
  save_values(saved, report.values);
}

PartReport restored_part(SavedBytesReader& saved) {
  PartReport report;
  report.tool = saved.text();
  report.kind = saved.text();
  report.names = restored_values(saved);
  report.values = restored_values(saved);
  return report;
}

std::size_t size_of(const std::vector<NamedValue>& values) {
  std::size_t bytes = 0;
  for (const NamedValue& value : values)
    bytes += sizeof value + value.name.size() + value.value.size();
  return bytes;
}

std::size_t size_of(const PartReport& report) {
  return report.tool.size() + report.kind.size() + size_of(report.names) + size_of(report.values);
}

}  // namespace faultline
