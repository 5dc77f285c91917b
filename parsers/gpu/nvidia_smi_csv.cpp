#include "parsers/gpu/nvidia_smi_csv.h"

#include <algorithm>
#include <string>

#include "model/pci_address.h"
#include "parsers/gpu/nvidia_smi_error.h"
#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::string_view kSeparator = ", ";
constexpr std::size_t kLongestHead = 8192;

// Our name for a column that says which GPU the row is about.
std::string_view identity_of(std::string_view column) {
  if (column == "index") return "index";
  if (column == "uuid" || column == "gpu_uuid") return "uuid";
  if (column == "pci.bus_id" || column == "gpu_bus_id" || column == "gpu.bus_id") return "pci";
  if (column == "serial" || column == "gpu_serial") return "serial";
  return {};
}

// Columns that occur in no other tool's table.
bool is_nvidias(std::string_view column) {
  constexpr std::string_view kFamilies[] = {
      "utilization.", "memory.",        "power.",         "clocks",          "ecc.",
      "pcie.",        "temperature.",   "remapped_rows.", "retired_pages.",  "fabric.",
      "pci.",         "gpu_",           "used_gpu_mem",   "driver_version",  "vbios_version",
      "mig.",         "enforced.power", "used_memory",    "persistence_mode"};
  return std::ranges::any_of(kFamilies,
                             [&](std::string_view family) { return column.starts_with(family); });
}

struct Column {
  std::string_view name;
  std::string_view unit;
};

// "memory.used [MiB]"
std::optional<Column> column_of(std::string_view text) {
  Column column{.name = text, .unit = {}};
  if (text.ends_with(']')) {
    const std::size_t bracket = text.find(" [");
    if (bracket == std::string_view::npos) return std::nullopt;
    column.name = text.substr(0, bracket);
    column.unit = text.substr(bracket + 2, text.size() - bracket - 3);
  }
  const bool good = !column.name.empty() && std::ranges::all_of(column.name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  });
  return good ? std::optional(column) : std::nullopt;
}

// Whether these are the columns of a table of GPUs.
bool are_columns(const std::vector<std::string_view>& names) {
  bool identity = false;
  bool nvidias = false;
  for (const std::string_view name : names) {
    const auto column = column_of(name);
    if (!column) return false;
    identity |= !identity_of(column->name).empty();
    nvidias |= is_nvidias(column->name);
  }
  return names.size() >= 2 && identity && nvidias;
}

// index,name,… of --query-gpu=index,name,… --format=csv,noheader
std::vector<std::string_view> asked_columns(std::string_view text) {
  constexpr std::string_view kQuery = "query-";
  const std::size_t query = text.find(kQuery);
  if (query == std::string_view::npos || text.size() > kLongestHead ||
      text.find("nvidia-smi") == std::string_view::npos)
    return {};
  std::string_view rest = text.substr(query);
  std::string_view before;
  if (!take_until(rest, "=", before) || rest.find("csv") == std::string_view::npos) return {};
  std::string_view list = rest.substr(0, rest.find(' '));
  if (take_front(list, "\"") || take_front(list, "'")) list = list.substr(0, list.size() - 1);
  auto names = pieces_of(list, ",");
  return are_columns(names) ? names : std::vector<std::string_view>();
}

std::vector<std::string_view> columns_in(std::string_view text) {
  text = trimmed(text);
  if (text.empty() || text.size() > kLongestHead) return {};
  // A head begins with the name of a column; a command may follow a prompt.
  const std::size_t first = text.find(kSeparator);
  if (first != std::string_view::npos && column_of(text.substr(0, first))) {
    auto names = pieces_of(text, kSeparator);
    if (are_columns(names)) return names;
  }
  return asked_columns(text);
}

// "2026/03/05 02:46:58.123"
std::optional<Timestamp> time_of(std::string_view text) {
  constexpr std::string_view kShape = "0000/00/00 ";
  if (text.size() < kShape.size() || text[4] != '/' || text[7] != '/') return std::nullopt;
  std::string dashed(text);
  dashed[4] = dashed[7] = '-';
  return parse_rfc3339(dashed);
}

bool is_identity(std::string_view name, std::string_view value) {
  if (name == "index") return is_count(value);
  if (name == "uuid") return value.starts_with("GPU-");
  if (name == "pci") return normal_pci(value).has_value();
  return true;
}

class Table : public PartDocument {
 public:
  Table() : PartDocument("nvidia-smi-csv") {}

 private:
  Line read(std::string_view text) override {
    if (auto names = columns_in(text); !names.empty()) {
      words_.clear();
      for (const std::string_view name : names) word(name);
      return Line::part;
    }
    if (const auto error = nvidia_smi_error(text)) {
      error->tell(open(error->kind()));
      give_all();
      return Line::part;
    }
    const auto cells = pieces_of(text, kSeparator);
    if (cells.size() != words_.size() || cells.size() < 2) return Line::foreign;
    return read_row(cells) ? Line::part : Line::foreign;
  }

  bool read_row(const std::vector<std::string_view>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string_view identity = identity_of(column_of(words_[i]).value_or(Column{}).name);
      const bool unknown = cells[i].starts_with('[') || cells[i] == "N/A";
      if (!identity.empty() && !unknown && !is_identity(identity, cells[i])) return false;
    }
    OpenPart& gpu = open("gpu");
    time_ = std::nullopt;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Column column = column_of(words_[i]).value_or(Column{});
      const std::string_view identity = identity_of(column.name);
      if (cut() && i + 1 == cells.size()) break;
      if (column.name == "timestamp")
        time_ = time_of(cells[i]);
      else if (identity == "pci")
        gpu.name(identity, normal_pci(cells[i]).value_or(""));
      else if (!identity.empty())
        gpu.name(identity, cells[i].starts_with('[') ? std::string_view() : cells[i]);
      else
        gpu.value(column.name, without_unit(cells[i], column.unit));
    }
    if (gpu.report.names.empty()) gpu.report.values.clear();  // the GPU is unknown
    give_all();
    return true;
  }

  // "71204 MiB" under a head with [MiB]. If only the command line is known, it gives no units.
  static std::string_view without_unit(std::string_view value, std::string_view unit) {
    constexpr std::string_view kUnits[] = {"%", "MiB", "W", "MHz", "C", "us"};
    const std::size_t blank = value.rfind(' ');
    if (blank == std::string_view::npos || value.front() < '0' || value.front() > '9') return value;
    const std::string_view last = value.substr(blank + 1);
    const bool is_unit = last == unit || std::ranges::find(kUnits, last) != std::end(kUnits);
    return is_unit ? trimmed(value.substr(0, blank)) : value;
  }
};

}  // namespace

bool begins_nvidia_smi_csv(std::string_view text) { return !columns_in(text).empty(); }

std::unique_ptr<Document> make_nvidia_smi_csv() { return std::make_unique<Table>(); }

}  // namespace faultline
