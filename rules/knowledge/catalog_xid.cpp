// xid.csv and sxid.csv: a row says what one Xid or SXid means.
#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "rules/knowledge/catalog_files.h"
#include "rules/knowledge/catalog_words.h"
#include "rules/knowledge/csv.h"

namespace faultline {
namespace {

constexpr std::array<std::string_view, 8> kColumns{"code",     "name",   "meaning", "class",
                                                   "severity", "impact", "action",  "escalation"};
constexpr std::array<std::string_view, 9> kSwitchColumns{
    "code", "name", "meaning", "class", "severity", "impact", "action", "escalation", "printed"};
constexpr std::array<std::string_view, 6> kImpacts{"none",      "degrades", "kills_process",
                                                   "kills_gpu", "hang",     "varies"};
constexpr std::array<std::string_view, 5> kPrinted{"Fatal", "Non-fatal", "either", "none",
                                                   "unknown"};

int code_of(const CatalogPlace& place, std::string_view kind, std::string_view text) {
  int code = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  if (error != std::errc{} || end != text.data() + text.size() || code <= 0)
    place.refuse(
        fmt::format("code \"{}\" is not the number of an {}; write 1 or more", text, kind));
  return code;
}

XidMeaning meaning_of(const CatalogPlace& place, std::string_view kind,
                      const std::vector<std::string>& fields) {
  XidMeaning xid{.code = code_of(place, kind, fields[0]),
                 .name = fields[1],
                 .meaning = fields[2],
                 .severity = enum_word<Severity>(place, "severity", fields[4]),
                 .impact = fields[5],
                 .action = fields[6],
                 .escalation = fields[7]};
  if (xid.meaning.empty())
    place.refuse(fmt::format("{} {} has no meaning; write what it means", kind, xid.code));
  if (!fields[3].empty()) xid.cause = require_class(place, fields[3]);
  require_word(place, "impact", xid.impact, kImpacts);
  if (fields.size() > kColumns.size()) {
    xid.printed = fields[8];
    require_word(place, "printed", xid.printed, kPrinted);
  }
  return xid;
}

std::map<int, XidMeaning> read_codes(std::string_view kind,
                                     std::span<const std::string_view> columns,
                                     std::string_view file, std::string_view text) {
  const std::vector<CsvRow> rows = read_csv(file, text);
  if (rows.empty() || !std::ranges::equal(rows.front().fields, columns))
    CatalogPlace{file, 1}.refuse(fmt::format("the first line must be {}", fmt::join(columns, ",")));

  std::map<int, XidMeaning> codes;
  std::map<int, std::size_t> lines;
  for (const CsvRow& row : std::span(rows).subspan(1)) {
    const CatalogPlace place{file, row.line};
    if (row.fields.size() != columns.size())
      place.refuse(fmt::format("{} fields instead of {}; quote a field that holds a comma",
                               row.fields.size(), columns.size()));
    XidMeaning meaning = meaning_of(place, kind, row.fields);
    const int code = meaning.code;
    if (!codes.emplace(code, std::move(meaning)).second)
      place.refuse(fmt::format("{} {} is listed twice, first in line {}; remove one of the two",
                               kind, code, lines[code]));
    lines[code] = row.line;
  }
  return codes;
}

}  // namespace

std::map<int, XidMeaning> read_xids(std::string_view file, std::string_view text) {
  return read_codes("Xid", kColumns, file, text);
}

std::map<int, XidMeaning> read_sxids(std::string_view file, std::string_view text) {
  return read_codes("SXid", kSwitchColumns, file, text);
}

}  // namespace faultline
