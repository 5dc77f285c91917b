#include "parsers/gpu/dcgm_exporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "model/pci_address.h"
#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::string_view kPrefix = "DCGM_FI_";

// The metrics that are kept, and the names that other tools give them.
struct Metric {
  std::string_view name;
  std::string_view known_as;
  bool is_mask = false;
};
constexpr Metric kMetrics[] = {
    {"DCGM_FI_DEV_XID_ERRORS", "xid"},
    {"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "dbecc"},
    {"DCGM_FI_DEV_ROW_REMAP_FAILURE", "Remapped Rows / Remapping Failure Occurred"},
    {"DCGM_FI_DEV_ROW_REMAP_PENDING", "Remapped Rows / Pending"},
    {"DCGM_FI_DEV_RETIRED_DBE", "Retired Pages / Double Bit ECC"},
    {"DCGM_FI_DEV_RETIRED_PENDING", "Retired Pages / Pending"},
    {"DCGM_FI_DEV_GPU_UTIL", "gpuutil"},
    {"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "clocks_event_reasons.active", true},
    {"DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "clocks_event_reasons.active", true},
};

// Takes name="value" off the front of the text between the braces.
bool take_label(std::string_view& text, std::string_view& name, std::string_view& value) {
  if (!take_until(text, "=\"", name)) return false;
  std::size_t end = 0;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  if (end >= text.size()) return false;
  value = text.substr(0, end);
  text.remove_prefix(end + 1);
  if (!text.empty() && text.front() == ',') text.remove_prefix(1);
  return true;
}

struct Row {
  std::string_view metric;
  std::string_view index;
  std::string_view uuid;
  std::string_view pci;
  std::string_view host;
  double value = 0;
};

std::optional<Row> row_in(std::string_view text) {
  constexpr double kBlank = 2147483632;  // and above: not supported, not found
  Row row;
  if (!text.starts_with(kPrefix) || !take_until(text, "{", row.metric)) return std::nullopt;
  std::string_view name;
  std::string_view value;
  while (!text.empty() && text.front() != '}') {
    if (!take_label(text, name, value)) return std::nullopt;
    if (name == "gpu") row.index = value;
    if (name == "UUID") row.uuid = value;
    if (name == "pci_bus_id") row.pci = value;
    if (name == "Hostname") row.host = value;
  }
  if (!take_front(text, "}")) return std::nullopt;
  const std::string_view number = trimmed(text);
  const auto read = std::from_chars(number.data(), number.data() + number.size(), row.value);
  if (read.ec != std::errc() || !std::isfinite(row.value) || row.value < 0 || row.value >= kBlank)
    row.metric = {};
  return row;
}

class Exporter : public PartDocument {
 public:
  Exporter() : PartDocument("dcgm-exporter") {}

 private:
  Line read(std::string_view text) override {
    text = trimmed(text);
    if (text.starts_with("# HELP ") || text.starts_with("# TYPE ")) return Line::part;
    const auto row = row_in(text);
    if (!row) return Line::foreign;
    const auto* metric = std::ranges::find(kMetrics, row->metric, &Metric::name);
    if (metric == std::end(kMetrics) || cut()) return Line::part;
    if (row->index.empty() && row->uuid.empty() && !normal_pci(row->pci)) return Line::part;
    // A part for each metric, so that its evidence is its own line.
    OpenPart& gpu = open("gpu");
    gpu.name("index", row->index);
    gpu.name("uuid", row->uuid);
    if (const auto pci = normal_pci(row->pci)) gpu.name("pci", *pci);
    if (!row->host.empty()) gpu.line.host = row->host;
    gpu.value(metric->known_as, metric->is_mask
                                    ? fmt::format("0x{:x}", static_cast<std::uint64_t>(row->value))
                                    : fmt::format("{:.0f}", row->value));
    return Line::part;
  }
};

}  // namespace

bool begins_dcgm_exporter(std::string_view text) {
  text.remove_prefix(indentation(text));
  if (text.starts_with("# HELP ") || text.starts_with("# TYPE ")) {
    constexpr std::size_t kBehind = sizeof("# HELP ") - 1;
    return text.substr(kBehind).starts_with(kPrefix);
  }
  return text.starts_with(kPrefix) && row_in(text).has_value();
}

std::unique_ptr<Document> make_dcgm_exporter() { return std::make_unique<Exporter>(); }

}  // namespace faultline
