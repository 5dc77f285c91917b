#include "app/progress.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

namespace faultline {
namespace {

using namespace std::chrono_literals;

TEST(Progress, SaysHowFarARunHasCome) {
  struct Case {
    const char* why;
    Advance advance;
    const char* expected;
  };
  const Case cases[] = {
      {"nothing yet", {.total_bytes = 1000}, "0 bytes of 1000 bytes (0 %), 0 lines"},
      {"half of a large file",
       {.bytes = 300 << 20, .total_bytes = 600 << 20, .lines = 2'400'000, .elapsed = 1500ms},
       "300.0 MiB of 600.0 MiB (50 %), 2.4 million lines, 200.0 MiB/s"},
      {"a pipe has no size",
       {.bytes = 5000, .total_bytes = {}, .lines = 999, .elapsed = 2s},
       "4.9 KiB, 999 lines, 2.4 KiB/s"},
      {"a file that grew while it was read",
       {.bytes = 3000, .total_bytes = 2000, .lines = 1},
       "2.9 KiB of 2.9 KiB (100 %), 1 lines"},
      {"empty files", {.total_bytes = 0}, "0 bytes, 0 lines"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(to_text(c.advance), c.expected);
  }
}

TEST(Progress, LeavesOnlyItsMessagesInAFile) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  ASSERT_NE(file, nullptr);
  {
    ProgressLine progress(file.get());
    progress.show({.bytes = 1});
    progress.say("a warning");
    progress.show({.bytes = 2});
  }
  ASSERT_EQ(std::fseek(file.get(), 0, SEEK_SET), 0);
  std::string text(100, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  EXPECT_EQ(text, "a warning\n");
}

}  // namespace
}  // namespace faultline
