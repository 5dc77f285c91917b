// Durations and sizes as values of settings.
#include <gtest/gtest.h>

#include "app/durations.h"
#include "app/sizes.h"

namespace faultline {
namespace {

using std::chrono::milliseconds;

TEST(SettingValues, AreDurationsWithAUnit) {
  EXPECT_EQ(setting_duration("500ms"), milliseconds(500));
  EXPECT_EQ(setting_duration("90s"), milliseconds(90'000));
  EXPECT_EQ(setting_duration("7d"), std::chrono::hours(7 * 24));
  EXPECT_EQ(setting_duration("0"), milliseconds(0));
  EXPECT_EQ(setting_duration("0s"), milliseconds(0));
  for (const char* text : {"90", "1", "", "s", "-1s", "90 s", "1w", "99999999999s"})
    EXPECT_EQ(setting_duration(text), std::nullopt) << text;
}

TEST(SettingValues, AreDurationsWithinLimits) {
  const DurationLimits some{.least = std::chrono::seconds{1}};
  EXPECT_EQ(wrong_duration("1s", some), "");
  EXPECT_EQ(wrong_duration("500ms", some), "must be a duration of 1s or more");
  EXPECT_EQ(wrong_duration("0", some), "must be a duration of 1s or more");
  const DurationLimits age{.least = std::chrono::hours{1}, .zero = "for ever"};
  EXPECT_EQ(wrong_duration("0", age), "");
  EXPECT_EQ(wrong_duration("90", age), "must be a duration with a unit: 90s, 90m, 90h or 90d");
  EXPECT_EQ(wrong_duration("soon", age), "must be a duration such as 0, 90s, 5m, 1h or 7d");
}

TEST(SettingValues, AreSizesInStepsOf1024) {
  EXPECT_EQ(setting_size("0"), 0U);
  EXPECT_EQ(setting_size("5000000000"), 5'000'000'000U);
  EXPECT_EQ(setting_size("64KB"), 65'536U);
  EXPECT_EQ(setting_size("64KiB"), 65'536U);
  EXPECT_EQ(setting_size("20 GB"), 20ULL << 30U);
  EXPECT_EQ(setting_size("1G"), 1ULL << 30U);
  EXPECT_EQ(setting_size("2TB"), 2ULL << 40U);
  for (const char* text : {"", "GB", "-1", "1.5GB", "1 ", "1  GB", "1PB", "1gb", "9999999999TB"})
    EXPECT_EQ(setting_size(text), std::nullopt) << text;
}

TEST(SettingValues, AreSharesOfWhatThereIs) {
  EXPECT_EQ(setting_size_or_share("50%", 1000), 500U);
  EXPECT_EQ(setting_size_or_share("100%", 1000), 1000U);
  EXPECT_EQ(setting_size_or_share("2KB", 1000), 2048U);
  for (const char* text : {"%", "0%", "101%", "-1%", "1.5%", "50 %", "5x%"})
    EXPECT_EQ(setting_size_or_share(text, 1000), std::nullopt) << text;
}

}  // namespace
}  // namespace faultline
