#include "parsers/pattern.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace faultline {
namespace {

TEST(Pattern, CapturesViewsIntoTheTextAndNumbers) {
  const Pattern pattern(R"((\w+)=(\d+))");
  const std::string_view text = "first rank=27 wins";
  std::string_view name;
  int value = 0;
  ASSERT_TRUE(pattern.find(text, &name, &value));
  EXPECT_EQ(name, "rank");
  EXPECT_EQ(name.data(), text.data() + 6);
  EXPECT_EQ(value, 27);
}

TEST(Pattern, DoesNotMatchANumberOutOfRange) {
  const Pattern pattern(R"(rank=(\d+))");
  int value = 0;
  EXPECT_FALSE(pattern.find("rank=99999999999", &value));
}

TEST(Pattern, LeavesAGroupThatTookNoPartEmpty) {
  const Pattern pattern(R"(a(b)?c)");
  std::string_view group = "before";
  ASSERT_TRUE(pattern.find("ac", &group));
  EXPECT_TRUE(group.empty());
}

TEST(Pattern, RefusesAnExpressionThatDoesNotCompile) {
  try {
    const Pattern pattern("a(b");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "a(b: missing ): a(b");
  }
}

}  // namespace
}  // namespace faultline
