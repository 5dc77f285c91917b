#include "rules/knowledge/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace faultline {
namespace {

using testing::ElementsAre;

std::string complaint_about(std::string_view text) {
  try {
    read_csv("some.csv", text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

TEST(Csv, ReadsFieldsAsRfc4180HasThem) {
  struct Case {
    const char* why;
    std::string_view text;
    std::vector<std::vector<std::string>> expected;
  };
  const Case cases[] = {
      {"nothing", "", {}},
      {"plain fields", "a,b\nc,d\n", {{"a", "b"}, {"c", "d"}}},
      {"no newline at the end", "a,b", {{"a", "b"}}},
      {"CRLF", "a,b\r\nc,d\r\n", {{"a", "b"}, {"c", "d"}}},
      {"empty fields", ",a,\n", {{"", "a", ""}}},
      {"an empty quoted field", "\"\",a\n", {{"", "a"}}},
      {"a comma in quotes", "\"a,b\",c\n", {{"a,b", "c"}}},
      {"doubled quotes", "\"say \"\"hi\"\"\"\n", {{"say \"hi\""}}},
      {"a newline in quotes", "\"a\nb\",c\n", {{"a\nb", "c"}}},
      {"empty lines", "a\n\n\r\nb\n\n", {{"a"}, {"b"}}},
      {"a byte order mark, as spreadsheets write it",
       "\xef\xbb\xbf"
       "a,b\n",
       {{"a", "b"}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    std::vector<std::vector<std::string>> fields;
    for (const CsvRow& row : read_csv("some.csv", c.text)) fields.push_back(row.fields);
    EXPECT_EQ(fields, c.expected);
  }
}

TEST(Csv, KnowsInWhichLineARowBegins) {
  std::vector<std::size_t> lines;
  for (const CsvRow& row : read_csv("some.csv", "a\n\"b\n\nb\"\n\nc\n")) lines.push_back(row.line);
  EXPECT_THAT(lines, ElementsAre(1u, 2u, 6u));
}

TEST(Csv, RefusesQuotesThatMakeNoSense) {
  EXPECT_EQ(complaint_about("a\nb,\"c\n\nd\n"),
            "some.csv:2: a quoted field is not closed; add the missing quote");
  EXPECT_EQ(
      complaint_about("a\nb,\"c\"d\n"),
      "some.csv:2: there is text after a closing quote; write a quote inside a field as \"\"");
  EXPECT_EQ(
      complaint_about("a\nb,c\"d\"\n"),
      "some.csv:2: there is a quote inside a plain field; quote the field and double its quotes");
}

}  // namespace
}  // namespace faultline
