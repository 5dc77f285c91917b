#include "parsers/performance/nsys.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr int kToldRows = 8;
constexpr std::size_t kMostColumns = 32;

struct Row {
  std::string name;
  double share = 0;  // per cent
  double total_ns = 0;
  double median_ns = 0;
  double longest_ns = 0;
};

// "9,238,123" in tables, 9238123 in CSV.
std::optional<double> number(std::string_view text) {
  std::string digits;
  for (const char c : text.substr(0, 40))
    if (c != ',') digits += c;
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// Fields between commas. A field in quotation marks may contain commas and doubled quotation marks.
std::vector<std::string> csv_fields(std::string_view text) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      fields.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted && fields.size() < kMostColumns) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

// Between the columns of a table are two blanks or more.
std::vector<std::string> table_columns(std::string_view text) {
  std::vector<std::string> columns;
  for (const std::string_view piece : pieces_of(text, "  ", 256))
    if (!piece.empty() && columns.size() < kMostColumns) columns.emplace_back(piece);
  return columns;
}

bool is_share(std::string_view column) { return column == "Time (%)" || column == "Time(%)"; }

bool is_head(const std::vector<std::string>& columns) {
  return columns.size() >= 4 && is_share(columns[0]) && columns[1] == "Total Time (ns)";
}

std::string_view kind_of(const std::vector<std::string>& columns) {
  auto has = [&](std::string_view name) {
    return std::ranges::find(columns, name) != columns.end();
  };
  if (has("Range")) return "nvtx ranges";
  if (has("Num Calls")) return "calls";
  return has("Instances") ? "kernels" : "sums";
}

bool is_communication(std::string_view kernel) {
  return kernel.find("nccl") != std::string_view::npos || kernel.find("nvshmem") != kernel.npos;
}

class Nsys : public PartDocument {
 public:
  Nsys() : PartDocument("nsys") {}

 private:
  // Stages: 0 nothing yet, 1 rows of CSV, 2 rows of a table. words_ are the columns.
  Line read(std::string_view text) override {
    if (read_head(text)) return Line::part;
    if (stage_ == 0) return Line::after;
    if (stage_ == 2 && text.find_first_not_of("- ") == std::string_view::npos) return Line::part;
    const auto row = stage_ == 1 ? csv_row(text) : table_row(text);
    if (!row) return Line::after;
    // Ignore a row that was cut within its name or a number.
    if (!cut()) add(*row);
    return Line::part;
  }

  bool read_head(std::string_view text) {
    const bool csv = text.find(',') != std::string_view::npos;
    const std::vector<std::string> columns = csv ? csv_fields(text) : table_columns(trimmed(text));
    if (!is_head(columns)) return false;
    end();
    give_all();
    words_.clear();
    for (const std::string& column : columns) word(column);
    stage_ = csv ? 1 : 2;
    open(kind_of(columns));
    return true;
  }

  std::optional<Row> csv_row(std::string_view text) const {
    const std::vector<std::string> fields = csv_fields(text);
    if (fields.size() != words_.size()) return std::nullopt;
    return row_of(fields);
  }

  // Numbers, then a name that may have blanks.
  std::optional<Row> table_row(std::string_view text) const {
    std::vector<std::string> fields;
    std::string_view rest = trimmed(text);
    while (fields.size() + 1 < words_.size()) {
      const std::size_t end = rest.find(' ');
      if (end == std::string_view::npos) return std::nullopt;
      fields.emplace_back(rest.substr(0, end));
      rest = trimmed(rest.substr(end));
    }
    if (rest.empty()) return std::nullopt;
    fields.emplace_back(rest);
    return row_of(fields);
  }

  std::optional<Row> row_of(const std::vector<std::string>& fields) const {
    // After a restart the columns come from the saved state, so do not trust them.
    if (fields.size() < 2 || fields.size() > words_.size()) return std::nullopt;
    Row row;
    const auto share = number(fields[0]);
    const auto total = number(fields[1]);
    if (!share || !total || *share < 0 || *share > 100) return std::nullopt;
    row.share = *share;
    row.total_ns = *total;
    for (std::size_t i = 2; i < fields.size(); ++i) {
      const std::string_view column = words_[i];
      if (column == "Med (ns)") row.median_ns = number(fields[i]).value_or(0);
      if (column == "Max (ns)" || column == "Maximum")
        row.longest_ns = number(fields[i]).value_or(0);
      if (column == "Name" || column == "Range" || column == "Operation") row.name = fields[i];
    }
    if (row.name.empty()) row.name = fields.back();
    return row;
  }

  // Rows come with the longest first. The sums are values of the part, so they are saved with it.
  void add(const Row& row) {
    OpenPart* sums = last();
    if (sums == nullptr) return;
    const double rows = sum_of(*sums, "rows") + 1;
    set(*sums, "rows", rows);
    if (rows <= kToldRows) {
      const std::string place = fmt::format("{} {:.0f}", sums->report.kind, rows);
      sums->value(place, row.name);
      set(*sums, place + " %", row.share);
    }
    if (sums->report.kind != "kernels" || !is_communication(row.name)) return;
    set(*sums, "communication %", sum_of(*sums, "communication %") + row.share);
    if (row.median_ns > 0)
      set(*sums, "communication longest of median",
          std::max(sum_of(*sums, "communication longest of median"),
                   row.longest_ns / row.median_ns));
  }

  static double sum_of(const OpenPart& part, std::string_view name) {
    const auto& values = part.report.values;
    const auto found = std::ranges::find(values, name, &NamedValue::name);
    return found == values.end() ? 0 : number(found->value).value_or(0);
  }
  static void set(OpenPart& part, std::string_view name, double value) {
    auto& values = part.report.values;
    const auto found = std::ranges::find(values, name, &NamedValue::name);
    const std::string text = fmt::format("{:.6g}", value);
    if (found != values.end())
      found->value = text;
    else
      part.value(name, text);
  }
};

}  // namespace

bool begins_nsys(std::string_view text) {
  text = trimmed(text);
  if (!text.starts_with("Time (%)") && !text.starts_with("Time(%)")) return false;
  return is_head(text.find(',') != std::string_view::npos ? csv_fields(text) : table_columns(text));
}

std::unique_ptr<Document> make_nsys() { return std::make_unique<Nsys>(); }

}  // namespace faultline
