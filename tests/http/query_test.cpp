#include "http/query.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

TEST(QueryString, ReadsNamesAndValuesAsFormsWriteThem) {
  const Result<QueryString> query =
      QueryString::parse("job=llama%2F7b&host=a+b&empty=&bare&&rank=3");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->text("job"), "llama/7b");
  EXPECT_EQ(query->text("host"), "a b");
  EXPECT_EQ(query->text("empty"), "");
  EXPECT_EQ(query->text("bare"), "");
  EXPECT_EQ(query->text("absent"), std::nullopt);
  EXPECT_EQ(query->number("rank").value(), 3U);
}

TEST(QueryString, RefusesWhatCannotBeMeant) {
  struct Case {
    const char* why;
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {"given twice", "job=a&job=b", "the query parameter \"job\" is given twice; give it once"},
      {"given twice, once encoded", "job=a&%6aob=b",
       "the query parameter \"job\" is given twice; give it once"},
      {"cut off after a percent sign", "job=50%",
       "\"50%\" has a % without two hexadecimal digits after it; write %25 for the sign itself"},
      {"no hexadecimal digits", "job=%zz",
       "\"%zz\" has a % without two hexadecimal digits after it; write %25 for the sign itself"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    const Result<QueryString> query = QueryString::parse(c.text);
    ASSERT_FALSE(query);
    EXPECT_EQ(query.error().message, c.message);
  }
}

TEST(QueryString, SaysWhatANumberABooleanOrATimeMustBe) {
  const QueryString query =
      *QueryString::parse("n=-1&big=18446744073709551616&b=yes&t=tuesday&ok=true&limit=0");
  EXPECT_EQ(query.number("n").error().message, "n must be a whole number from 0 up, not \"-1\"");
  EXPECT_EQ(query.number("big").error().message,
            "big must be a whole number from 0 up, not \"18446744073709551616\"");
  EXPECT_EQ(query.number("limit", 1, 1000).error().message,
            "limit must be a whole number from 1 to 1000, not \"0\"");
  EXPECT_EQ(query.boolean("b").error().message, "b must be true or false, not \"yes\"");
  EXPECT_EQ(query.time("t").error().message,
            "t must be a time such as 2026-03-05T02:47:11Z, not \"tuesday\"");
  EXPECT_TRUE(query.boolean("ok").value());
  EXPECT_FALSE(query.boolean("absent").value());
  EXPECT_EQ(query.number("absent").value(), std::nullopt);
}

TEST(CheckName, TakesPrintableUtf8Only) {
  struct Case {
    const char* why;
    std::string text;
    bool good;
  };
  const Case cases[] = {
      {"a path", "gpu-node-3/nccl.log", true},
      {"other alphabets", "тест-ジョブ", true},
      {"beyond the basic plane", "\xf0\x9f\x94\xa5", true},
      {"nothing", "", false},
      {"a line break", "a\nb", false},
      {"a NUL", std::string("a\0b", 3), false},
      {"not UTF-8", "a\xff", false},
      {"an overlong slash", "\xc0\xaf", false},
      {"an overlong three-byte form", "\xe0\x80\xaf", false},
      {"a surrogate", "\xed\xa0\x80", false},
      {"cut off in mid character", "\xe2\x82", false},
      {"a C1 control", "\xc2\x85", false},
      {"too long", std::string(513, 'a'), false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(check_name("job", c.text).has_value(), c.good);
  }
}

TEST(PrintableName, PutsAQuestionMarkForWhatMayNotStand) {
  EXPECT_EQ(printable_name("a\x01z\xff\n\xe2\x82\xac"), "a?z??\xe2\x82\xac");
  EXPECT_LE(printable_name(std::string(5000, 'x')).size(), 512U);
}

TEST(Cursor, GivesBackWhatItWasMadeFrom) {
  EXPECT_EQ(last_seen_of(cursor_for("llama/7b \xff")).value(), "llama/7b \xff");
  EXPECT_FALSE(last_seen_of("xyz"));
  EXPECT_FALSE(last_seen_of("0g"));
}

}  // namespace
}  // namespace faultline
