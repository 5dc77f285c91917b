// Comma-separated values as RFC 4180 has them: quoted fields may hold commas, newlines and doubled
// quotes; lines end with LF or CRLF. Empty lines and a byte order mark are skipped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {

struct CsvRow {
  std::size_t line = 0;  // where it begins, from 1
  std::vector<std::string> fields;
};

// Throws std::runtime_error naming `file` and the line.
std::vector<CsvRow> read_csv(std::string_view file, std::string_view text);

}  // namespace faultline
