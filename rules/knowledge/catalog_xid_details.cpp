// xid_details.csv: what the text behind an Xid's code adds to it.
#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/catalog_words.h"
#include "rules/knowledge/csv.h"

namespace faultline {
namespace {

constexpr std::array<std::string_view, 10> kColumns{"codes",   "units",    "field",  "values",
                                                    "class",   "severity", "impact", "weight",
                                                    "meaning", "action"};
constexpr std::array<std::string_view, 6> kImpacts{"none",      "degrades", "kills_process",
                                                   "kills_gpu", "hang",     "varies"};
constexpr std::array<std::string_view, 2> kWeights{"cause", "echo"};

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (!word.empty()) words.emplace_back(word);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return words;
}

std::uint64_t number_in(const CatalogPlace& place, std::string_view text) {
  std::string_view digits = text;
  const bool hex = digits.starts_with("0x");
  if (hex) digits.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
  if (error != std::errc{} || end != digits.data() + digits.size())
    place.refuse(fmt::format("\"{}\" is not a number; write one such as 4 or 0x20", text));
  return number;
}

XidDetail row_of(const CatalogPlace& place, const std::vector<std::string>& fields) {
  XidDetail row{.units = words_in(fields[1]),
                .field = enum_word<XidField>(place, "field", fields[2]),
                .impact = fields[6],
                .echo = fields[7] == "echo",
                .meaning = fields[8],
                .action = fields[9]};
  row.any_program = fields[0] == "software";
  for (const std::string& code : words_in(row.any_program ? "" : fields[0]))
    row.codes.push_back(static_cast<int>(number_in(place, code)));
  if (row.field <= XidField::printed) {
    row.text = fields[3];
  } else {
    for (const std::string& value : words_in(fields[3])) {
      const std::size_t dash = value.find('-');
      const std::uint64_t from = number_in(place, std::string_view(value).substr(0, dash));
      row.values.emplace_back(from,
                              dash == std::string::npos
                                  ? from
                                  : number_in(place, std::string_view(value).substr(dash + 1)));
    }
  }
  if (!fields[4].empty()) row.cause = require_class(place, fields[4]);
  if (!fields[5].empty()) row.severity = enum_word<Severity>(place, "severity", fields[5]);
  if (!row.impact.empty()) require_word(place, "impact", row.impact, kImpacts);
  require_word(place, "weight", fields[7], kWeights);
  if (row.meaning.empty()) place.refuse("the row has no meaning; write what it means");
  return row;
}

}  // namespace

std::vector<XidDetail> read_xid_details(std::string_view file, std::string_view text) {
  const std::vector<CsvRow> rows = read_csv(file, text);
  if (rows.empty() || !std::ranges::equal(rows.front().fields, kColumns))
    CatalogPlace{file, 1}.refuse(
        fmt::format("the first line must be {}", fmt::join(kColumns, ",")));
  std::vector<XidDetail> details;
  for (const CsvRow& row : std::span(rows).subspan(1)) {
    const CatalogPlace place{file, row.line};
    if (row.fields.size() != kColumns.size())
      place.refuse(fmt::format("{} fields instead of {}; quote a field that holds a comma",
                               row.fields.size(), kColumns.size()));
    details.push_back(row_of(place, row.fields));
  }
  return details;
}

}  // namespace faultline
