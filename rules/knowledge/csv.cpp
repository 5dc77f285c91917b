#include "rules/knowledge/csv.h"

#include <fmt/format.h>

#include <stdexcept>

#include "rules/knowledge/catalog_words.h"

namespace faultline {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view file, std::string_view text) : file_(file), rest_(text) {}

  std::vector<CsvRow> rows() {
    skip("\xef\xbb\xbf");
    std::vector<CsvRow> rows;
    while (!rest_.empty())
      if (!skip_newline()) rows.push_back(row());
    return rows;
  }

 private:
  CsvRow row() {
    CsvRow row{.line = line_};
    do {
      row.fields.push_back(skip("\"") ? quoted() : plain());
    } while (skip(","));
    if (!rest_.empty() && !skip_newline())
      fail(line_, "there is text after a closing quote; write a quote inside a field as \"\"");
    return row;
  }

  std::string plain() {
    const std::string_view field = rest_.substr(0, rest_.find_first_of(",\r\n"));
    if (field.find('"') != std::string_view::npos)
      fail(line_, "there is a quote inside a plain field; quote the field and double its quotes");
    rest_.remove_prefix(field.size());
    return std::string(field);
  }

  std::string quoted() {
    const std::size_t opened = line_;
    std::string field;
    while (!rest_.empty()) {
      if (skip("\"\"")) {
        field += '"';
        continue;
      }
      if (skip("\"")) return field;
      if (rest_.front() == '\n') ++line_;
      field += rest_.front();
      rest_.remove_prefix(1);
    }
    fail(opened, "a quoted field is not closed; add the missing quote");
  }

  bool skip(std::string_view literal) {
    if (!rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }

  bool skip_newline() {
    if (!skip("\r\n") && !skip("\n")) return false;
    ++line_;
    return true;
  }

  [[noreturn]] void fail(std::size_t line, std::string_view why) const {
    throw std::runtime_error(fmt::format("{}:{}: {}", file_, line, in_one_line(why)));
  }

  std::string_view file_;
  std::string_view rest_;
  std::size_t line_ = 1;
};

}  // namespace

std::vector<CsvRow> read_csv(std::string_view file, std::string_view text) {
  return CsvReader(file, text).rows();
}

}  // namespace faultline
