// Tables of lines with the facts that a parser reads from each.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "model/json.h"
#include "parsers/parser.h"

namespace faultline {

template <class Expected>
struct ParsedLine {
  const char* why;
  std::string text;
  std::vector<Expected> expected;  // empty: the parser does not know the line
};

template <class Expected>
void expect_all(bool (*parse)(std::string_view, std::vector<Reading>&),
                const std::vector<ParsedLine<Expected>>& lines) {
  for (const ParsedLine<Expected>& line : lines) {
    SCOPED_TRACE(line.why);
    std::vector<Reading> readings;
    EXPECT_EQ(parse(line.text, readings), !line.expected.empty());
    ASSERT_EQ(readings.size(), line.expected.size()) << line.text;
    for (std::size_t i = 0; i < readings.size(); ++i)
      EXPECT_EQ(fact_to_json(readings[i].fact), fact_to_json(line.expected[i])) << line.text;
  }
}

}  // namespace faultline
