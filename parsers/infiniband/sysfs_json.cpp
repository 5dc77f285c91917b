#include "parsers/infiniband/sysfs_json.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "parsers/infiniband/infiniband_sysfs.h"
#include "parsers/tool/part_saving.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

constexpr std::size_t kMostParts = 512;

// "up\n": the file's line break is written as an escape.
std::string_view without_line_break(std::string_view text) {
  while (text.ends_with("\\n")) text.remove_suffix(2);
  return trimmed(text);
}

class SysfsJson : public JsonReport {
 public:
  Sense sense() const override { return Sense::mine; }

  void value(std::string_view path, const JsonValue& value) override {
    const auto file = take_off_sysfs_path(path);
    const std::string_view content = without_line_break(value.text);
    if (!file || !path.empty() || sysfs_says_nothing(*file, content)) return;
    const auto known = std::ranges::find_if(
        parts_, [&](const Part& part) { return is_of_sysfs_part(part.report, *file); });
    if (known != parts_.end()) {
      add_sysfs_value(known->report, *file, content);
    } else if (parts_.size() < kMostParts) {
      Part& part = parts_.emplace_back();
      part.line.keep(line);
      part.report.tool = "sysfs";
      part.report.kind = file->netdev.empty() ? "port" : "netdev";
      add_sysfs_value(part.report, *file, content);
    }
  }

  void closed_object(std::string_view path) override {
    if (!path.empty()) return;
    // All parts of a snapshot are of one host, but only the adapters name it.
    std::string host;
    for (const Part& part : parts_)
      if (host.empty()) host = value_of(part.report.names, "host");
    for (Part& part : parts_)
      if (value_of(part.report.names, "host").empty()) set_name(part.report.names, "host", host);
    for (Part& part : std::exchange(parts_, {}))
      if (!part.report.values.empty())
        readings->push_back({{.fact = std::move(part.report),
                              .host = {},
                              .pid = 0,
                              .device = -1,
                              .time = std::nullopt},
                             std::move(part.line)});
  }

  std::size_t size() const override {
    std::size_t bytes = 0;
    for (const Part& part : parts_)
      bytes += sizeof part + size_of(part.report) + part.line.text.size();
    return bytes;
  }

  void save(SavedBytesWriter& saved) const override {
    saved.number(static_cast<std::int64_t>(parts_.size()));
    for (const Part& part : parts_) {
      save_part(saved, part.report);
      part.line.save(saved);
    }
  }

  void restore(SavedBytesReader& saved) override {
    const std::int64_t count = saved.number();
    for (std::int64_t i = 0; i < count && saved.ok() && parts_.size() < kMostParts; ++i) {
      Part& part = parts_.emplace_back();
      part.report = restored_part(saved);
      part.line.restore(saved);
    }
  }

 private:
  struct Part {
    PartReport report;
    KeptLine line;  // its first line
  };

  std::vector<Part> parts_;
};

}  // namespace

bool begins_sysfs_json(std::string_view key) { return key.starts_with("/sys/"); }

std::unique_ptr<JsonReport> make_sysfs_json() { return std::make_unique<SysfsJson>(); }

}  // namespace faultline
