// xid.csv: a row says what one Xid means.
#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "rules/catalog_files.h"
#include "rules/catalog_words.h"
#include "rules/csv.h"

namespace faultline {
namespace {

constexpr std::array<std::string_view, 8> kColumns{"code",     "name",   "meaning", "class",
                                                   "severity", "impact", "action",  "escalation"};
constexpr std::array<std::string_view, 6> kImpacts{"none",      "degrades", "kills_process",
                                                   "kills_gpu", "hang",     "varies"};

int code_of(const CatalogPlace& place, std::string_view text) {
  int code = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  if (error != std::errc{} || end != text.data() + text.size() || code <= 0)
    place.refuse(
        fmt::format("code \"{}\" is not the number of an Xid; write a number from 1", text));
  return code;
}

XidMeaning meaning_of(const CatalogPlace& place, const std::vector<std::string>& fields) {
  XidMeaning xid{.code = code_of(place, fields[0]),
                 .name = fields[1],
                 .meaning = fields[2],
                 .cause = fields[3],
                 .severity = enum_word<Severity>(place, "severity", fields[4]),
                 .impact = fields[5],
                 .action = fields[6],
                 .escalation = fields[7]};
  if (xid.meaning.empty())
    place.refuse(fmt::format("Xid {} has no meaning; say what it tells", xid.code));
  if (!xid.cause.empty()) require_cause_class(place, xid.cause);
  require_word(place, "impact", xid.impact, kImpacts);
  return xid;
}

}  // namespace

std::map<int, XidMeaning> read_xids(std::string_view file, std::string_view text) {
  const std::vector<CsvRow> rows = read_csv(file, text);
  if (rows.empty() || !std::ranges::equal(rows.front().fields, kColumns))
    CatalogPlace{file, 1}.refuse(
        fmt::format("the first line must be {}", fmt::join(kColumns, ",")));

  std::map<int, XidMeaning> xids;
  std::map<int, std::size_t> lines;
  for (const CsvRow& row : std::span(rows).subspan(1)) {
    const CatalogPlace place{file, row.line};
    if (row.fields.size() != kColumns.size())
      place.refuse(fmt::format("{} fields stand where {} belong; quote a field that holds a comma",
                               row.fields.size(), kColumns.size()));
    XidMeaning xid = meaning_of(place, row.fields);
    const int code = xid.code;
    if (!xids.emplace(code, std::move(xid)).second)
      place.refuse(fmt::format("Xid {} is listed twice, first in line {}; remove one of the two",
                               code, lines[code]));
    lines[code] = row.line;
  }
  return xids;
}

}  // namespace faultline
