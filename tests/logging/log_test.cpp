// What a program logs about itself: lines that other programs can parse, whatever values they hold.
#include "logging/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "workshop.h"

namespace faultline {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr LogStamp kAtNoon{.time = "2026-03-05T12:00:00Z"};
constexpr LogStamp kInTheJournal{.marks_priority = true};

std::string line_with(std::string_view value, LogFormat format) {
  return log_line({LogLevel::warning, "tried", "", {{"value", value}}}, format, kAtNoon);
}

TEST(LogLine, HasItsTimeItsLevelItsEventAndWhatItIsAbout) {
  const LogEntry entry{
      LogLevel::info, "rules-read", "rules read again", {{"signatures", 3}, {"by", "ann"}}};
  EXPECT_EQ(log_line(entry, LogFormat::logfmt, kAtNoon),
            "time=2026-03-05T12:00:00Z level=info event=rules-read msg=\"rules read again\" "
            "signatures=3 by=ann\n");
  EXPECT_EQ(log_line(entry, LogFormat::json, kAtNoon),
            "{\"time\":\"2026-03-05T12:00:00Z\",\"level\":\"info\",\"event\":\"rules-read\","
            "\"msg\":\"rules read again\",\"signatures\":3,\"by\":\"ann\"}\n");
  EXPECT_EQ(log_line(entry, LogFormat::plain, kAtNoon),
            "faultline: rules read again, signatures 3, by ann\n");
}

TEST(LogLine, OfTheJournalHasAPriorityAndNoTime) {
  const auto begins = [](LogLevel level, LogFormat format) {
    return log_line({level, "tried", "", {}}, format, kInTheJournal);
  };
  EXPECT_EQ(begins(LogLevel::error, LogFormat::logfmt), "<3>level=error event=tried\n");
  EXPECT_EQ(begins(LogLevel::warning, LogFormat::logfmt), "<4>level=warning event=tried\n");
  EXPECT_EQ(begins(LogLevel::info, LogFormat::json),
            "<6>{\"level\":\"info\",\"event\":\"tried\"}\n");
}

TEST(LogLine, QuotesOnlyWhatNeedsIt) {
  const auto shown = [](std::string_view value) {
    const std::string line = line_with(value, LogFormat::logfmt);
    return line.substr(line.find("value="));
  };
  EXPECT_EQ(shown("/api/v1/jobs/llama-7"), "value=/api/v1/jobs/llama-7\n");
  EXPECT_EQ(shown("two words"), "value=\"two words\"\n");
  EXPECT_EQ(shown(""), "value=\"\"\n");
  EXPECT_EQ(shown("a=b"), "value=\"a=b\"\n");
  EXPECT_EQ(shown(R"(the "job" \)"), "value=\"the \\\"job\\\" \\\\\"\n");
  EXPECT_EQ(shown("l\u00e4rm"), "value=\"l\u00e4rm\"\n");
}

std::string outside_of_quotes(std::string_view line) {
  std::string outside;
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (inside && line[i] == '\\')
      ++i;
    else if (line[i] == '"')
      inside = !inside;
    else if (!inside)
      outside += line[i];
  }
  return outside;
}

// If the name of a source could end a line, its sender could forge lines of the server.
TEST(LogLine, HasOneEndWhateverAValueHolds) {
  const std::vector<std::string> foes{"a\nlevel=error event=forged",
                                      "a\r\nb",
                                      "\x1b[2J",
                                      std::string("nul\0nul", 7),
                                      "\u0085 next line",
                                      "\u2028",
                                      "\u202eabc",
                                      "\u200b",
                                      "\ufeff",
                                      "half \xe2",
                                      "\xff\xfe\n",
                                      "\xc0\x8a",
                                      "\" forged=\"yes",
                                      "\\\" x=\"",
                                      "\x7f",
                                      "a\tb"};
  for (const std::string& foe : foes)
    for (const LogFormat format : {LogFormat::plain, LogFormat::logfmt, LogFormat::json}) {
      const std::string line =
          log_line({LogLevel::info, "tried", foe, {{"value", foe}}}, format, kAtNoon);
      SCOPED_TRACE(line);
      EXPECT_THAT(line, EndsWith("\n"));
      EXPECT_EQ(std::ranges::count(line, '\n'), 1);
      EXPECT_TRUE(std::ranges::all_of(
          line, [](char c) { return c == '\n' || static_cast<unsigned char>(c) >= 0x20; }));
      for (const char* unseen : {"\u0085", "\u2028", "\u202e", "\u200b", "\ufeff", "\x7f", "\xff"})
        EXPECT_THAT(line, Not(HasSubstr(unseen)));
      if (format == LogFormat::logfmt) {
        EXPECT_THAT(outside_of_quotes(line), Not(HasSubstr("forged")));
      }
      if (format != LogFormat::json) continue;
      const boost::json::value read = boost::json::parse(line);
      EXPECT_EQ(read.at("event").as_string(), "tried");
      EXPECT_EQ(read.at("value").as_string(), read.at("msg").as_string());
    }
  EXPECT_EQ(boost::json::parse(line_with("a\n\x01\"\\", LogFormat::json)).at("value").as_string(),
            "a\n\x01\"\\");
}

TEST(LogLine, CutsWhatGoesOnForLong) {
  for (const LogFormat format : {LogFormat::logfmt, LogFormat::json}) {
    const std::string line = line_with(std::string(1'000'000, 'x'), format);
    EXPECT_LT(line.size(), 4000U);
    EXPECT_THAT(line, HasSubstr("x\u2026\""));
  }
}

// Redirects stderr to a file for its lifetime.
class Redirected {
 public:
  explicit Redirected(const std::filesystem::path& file)
      : before_(dup(STDERR_FILENO)), file_(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600)) {
    dup2(file_, STDERR_FILENO);
  }
  ~Redirected() {
    dup2(before_, STDERR_FILENO);
    close(before_);
    close(file_);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  int before_;
  int file_;
};

TEST(Log, WritesEachLineWholeWhoeverElseSpeaks) {
  constexpr int kSpeakers = 8;
  constexpr int kLines = 200;
  Workshop workshop;
  set_log_format(LogFormat::json);
  {
    const Redirected redirected(workshop.folder() / "said");
    std::vector<std::thread> speakers;
    for (int i = 0; i < kSpeakers; ++i)
      speakers.emplace_back([i] {
        for (int line = 0; line < kLines; ++line)
          say(LogLevel::info, "tried", std::string(100, 'x'), {{"speaker", i}, {"line", line}});
      });
    for (std::thread& speaker : speakers) speaker.join();
  }
  set_log_format(LogFormat::plain);
  std::istringstream said(read_file(workshop.folder() / "said"));
  std::vector<int> next(kSpeakers);
  int lines = 0;
  for (std::string line; std::getline(said, line); ++lines) {
    const boost::json::value read = boost::json::parse(line);
    const auto speaker = static_cast<std::size_t>(read.at("speaker").as_int64());
    EXPECT_EQ(read.at("line").as_int64(), next[speaker]++);
  }
  EXPECT_EQ(lines, kSpeakers * kLines);
}

TEST(Log, KnowsTheJournalByItsFileAndNotByTheVariableAlone) {
  Workshop workshop;
  const int file = open((workshop.folder() / "journal").c_str(), O_WRONLY | O_CREAT, 0600);
  struct stat status{};
  ASSERT_EQ(fstat(file, &status), 0);
  const std::string its = std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
  const std::string another =
      std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino + 1);
  EXPECT_TRUE(is_journal(file, its.c_str()));
  EXPECT_FALSE(is_journal(file, another.c_str())) << "redirected: 2>file";
  EXPECT_FALSE(is_journal(file, nullptr));
  EXPECT_FALSE(is_journal(file, ""));
  close(file);
}

}  // namespace
}  // namespace faultline
