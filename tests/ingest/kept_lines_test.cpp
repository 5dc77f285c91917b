// Lines that are kept, and read again.
#include "ingest/kept_lines.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/reread.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Timestamp kNoon = Timestamp(std::chrono::hours(24 * 20'000 + 12));
constexpr std::string_view kCall =
    "n1:7:8 [0] NCCL INFO AllReduce: opCount 1 sendbuff 0x7f recvbuff 0x7f count 5 datatype 7 op 0 "
    "root 0 comm 0xabc [nranks=2] stream 0x1\n";

// Writes down all calls of the visitor.
class Scribe : public KeptLinesVisitor {
 public:
  std::vector<std::string> said;

  void text(std::string_view bytes) override { said.push_back(fmt::format("text {}", bytes)); }
  void rest(std::string_view bytes, bool counted) override {
    said.push_back(fmt::format("rest{} {}", counted ? " of one counted" : "", bytes));
  }
  void hidden_line(std::string_view text, std::uint64_t bytes) override {
    said.push_back(fmt::format("hidden {} {}", bytes, text));
  }
  void blank(std::uint64_t lines) override { said.push_back(fmt::format("blank {}", lines)); }
  void calls(LineSpan span) override { say("calls", span); }
  void passed(LineSpan span) override { say("passed", span); }
  void begin_body(Timestamp) override { said.emplace_back("body"); }
  void begin_file() override { said.emplace_back("file"); }
  void set_boot_time(Timestamp) override { said.emplace_back("boot"); }
  void settle() override { said.emplace_back("settle"); }
  void finish() override { said.emplace_back("finish"); }
  void close() override { said.emplace_back("close"); }

 private:
  void say(std::string_view what, LineSpan span) {
    said.push_back(fmt::format("{} {}/{}", what, span.lines, span.bytes));
  }
};

std::vector<std::string> told_by(std::string_view kept) {
  Scribe scribe;
  EXPECT_TRUE(read_kept_lines(kept, scribe));
  return scribe.said;
}

// Hides what follows "key=", and wants every line with "wanted" in it.
class Careful : public Noteworthy {
 public:
  bool wants(std::string_view text, std::string_view) const override {
    return text.find("wanted") != std::string_view::npos;
  }
  bool reads_like_kernel(std::string_view) const override { return false; }
  std::optional<std::size_t> nccl_warning_in(std::string_view) const override {
    return std::nullopt;
  }
  TroubleKind trouble_in(std::string_view) const override { return TroubleKind::none; }
  bool completes(const Remark&, std::string_view) const override { return false; }
  bool hides(std::string_view line, bool, OpenSecret&, std::string& hidden) const override {
    const std::size_t at = line.find("key=");
    if (at == std::string_view::npos) return false;
    hidden = fmt::format("{}key=*", line.substr(0, at));
    return true;
  }
};

class LinesKept : public testing::Test {
 protected:
  Reader keeping(const Cursor& cursor = {}) const {
    Reader reader(cursor, kNoon, careful);
    reader.keep_lines();
    return reader;
  }

  std::shared_ptr<const Careful> careful = std::make_shared<Careful>();
};

TEST_F(LinesKept, AreAllThatWasReadButCalls) {
  Reader reader = keeping();
  for (int i = 0; i < 100; ++i) reader.feed(kCall);  // at first these may be rows of a terminal
  reader.take();
  reader.take_kept_lines();
  reader.feed("one\n");
  for (int i = 0; i < 3; ++i) reader.feed(kCall);
  reader.feed("two\n\nthree\n");
  reader.finish();
  reader.take();
  EXPECT_FALSE(reader.has_kept_only_calls());
  const std::string calls = fmt::format("calls 3/{}", 3 * kCall.size());
  const auto told = told_by(reader.take_kept_lines());
  EXPECT_THAT(told, ElementsAre("text one\n", calls, "text two\n\nthree\n", "finish"));
}

TEST_F(LinesKept, OfABodyOfCallsAreNone) {
  Reader reader = keeping();
  for (int i = 0; i < 100; ++i) reader.feed(kCall);  // at first these may be rows of a terminal
  reader.take();
  reader.take_kept_lines();
  for (int i = 0; i < 100; ++i) reader.feed(kCall);
  reader.finish();
  reader.take();
  EXPECT_TRUE(reader.has_kept_only_calls());
}

TEST_F(LinesKept, HideSecretsAndKnowHowLongTheirLinesWere) {
  Reader reader = keeping();
  reader.feed("before\nmy key=12345 x\nafter\n");
  reader.finish();
  reader.take();
  EXPECT_THAT(told_by(reader.take_kept_lines()),
              ElementsAre("body", "text before\n", "hidden 15 my key=*", "text after\n", "finish"));
}

TEST_F(LinesKept, OfALineInTwoBodiesAreItsPieces) {
  Reader first = keeping();
  first.feed("one\nbegin");
  first.finish();
  first.take();
  EXPECT_THAT(told_by(first.take_kept_lines()), ElementsAre("body", "text one\nbegin", "finish"));
  Reader second = keeping(first.cursor());
  second.feed("ning\ntwo\n");
  second.finish();
  second.take();
  EXPECT_THAT(told_by(second.take_kept_lines()),
              ElementsAre("body", "rest ning\n", "text two\n", "finish"));
}

TEST_F(LinesKept, PassOverALineOfWhichASecondBodyShowsTheSecret) {
  Reader first = keeping();
  first.feed("my ke");
  first.finish();
  first.take();
  Reader second = keeping(first.cursor());
  second.feed("y=12345\ntwo\n");
  second.finish();
  second.take();
  EXPECT_THAT(told_by(second.take_kept_lines()),
              ElementsAre("body", "passed 1/8", "text two\n", "finish"));
}

TEST_F(LinesKept, PassOverDumpsAndLinesThatAreTooLong) {
  Reader dump = keeping();
  const std::string text = R"({"version": "2.4", "entries": [], "pg_config": {}})";
  dump.feed(text + "\n");
  dump.finish();
  dump.take();
  const auto told = told_by(dump.take_kept_lines());
  EXPECT_THAT(told, testing::Not(testing::Contains(HasSubstr("entries")))) << told.size();

  Reader longest = keeping();
  longest.feed("one\n" + std::string(Reader::kMaxLineBytes + 1, 'x') + "\ntwo\n");
  longest.finish();
  longest.take();
  EXPECT_THAT(
      told_by(longest.take_kept_lines()),
      ElementsAre("body", "text one\n", fmt::format("passed 1/{}", Reader::kMaxLineBytes + 2),
                  "text two\n", "finish"));
}

TEST_F(LinesKept, ThatAreDamagedAreRefused) {
  Reader reader = keeping();
  reader.feed("one\nmy key=12345 x\ntwo\n");
  reader.close();
  reader.take();
  const std::string kept = reader.take_kept_lines();
  for (std::size_t size = 0; size < kept.size(); ++size) {
    Scribe scribe;
    (void)read_kept_lines(std::string_view(kept).substr(0, size), scribe);
    EXPECT_LT(scribe.said.size(), told_by(kept).size());
  }
  Scribe scribe;
  EXPECT_FALSE(read_kept_lines("\x7f", scribe));
}

TEST_F(LinesKept, ReadAgainTellWhatIsAskedForNow) {
  Reader reader = keeping();
  const std::string log = fmt::format("one\n{}wanted: two\nkey=12345\nwanted: three\n", kCall);
  reader.feed(log);
  reader.finish();
  const Batch before = reader.take();
  Rereader again(careful);
  const auto read = again.read({.from_offset = 0, .to_offset = log.size(), .received = kNoon},
                               reader.take_kept_lines());
  ASSERT_TRUE(read);
  ASSERT_EQ(read->batch.events.size(), 2U);
  EXPECT_EQ(read->batch.events[0].offset, log.find("wanted: two"));
  EXPECT_EQ(read->batch.events[1].offset, log.find("wanted: three"));
  EXPECT_EQ(read->batch.events[1].line, 5U);
  EXPECT_EQ(read->batch.lines, before.lines);
  EXPECT_EQ(read->batch.recognized, before.recognized);
  EXPECT_EQ(again.covered(log.size() - 1), Rereader::Covered::exactly);
  EXPECT_EQ(again.covered(log.size()), Rereader::Covered::not_at_all);
}

TEST_F(LinesKept, ReadAgainBehindAGapStandWhereTheyStood) {
  Reader reader = keeping();
  reader.feed("one\n");
  reader.take();
  reader.take_kept_lines();  // this is lost
  reader.feed("two\nwanted: three\n");
  reader.finish();
  reader.take();
  Rereader again(careful);
  const auto read = again.read({.from_offset = 4,
                                .to_offset = 22,
                                .lines_before = 1,
                                .before = Rereader::Before::unknown,
                                .received = kNoon},
                               reader.take_kept_lines());
  ASSERT_TRUE(read);
  ASSERT_EQ(read->batch.events.size(), 1U);
  EXPECT_EQ(read->batch.events[0].line, 3U);
  EXPECT_EQ(read->batch.events[0].offset, 8U);
  EXPECT_EQ(again.covered(3), Rereader::Covered::not_at_all);
  EXPECT_EQ(again.covered(4), Rereader::Covered::loosely);
}

// Hides all lines between "BEGIN" and "END".
class KeyHider : public Careful {
 public:
  bool hides(std::string_view line, bool, OpenSecret& open, std::string& hidden) const override {
    const bool hides_it = open.in_key;
    open.in_key = (open.in_key || line == "BEGIN") && line != "END";
    hidden = "*";
    return hides_it && line != "END";
  }
};

TEST_F(LinesKept, HideAKeyThatIsCutByTheEndOfABody) {
  const auto hider = std::make_shared<KeyHider>();
  Reader first(Cursor{}, kNoon, hider);
  first.keep_lines();
  first.feed("BEGIN\nabc\n");
  first.finish();
  first.take();
  Reader second(first.cursor(), kNoon, hider);
  second.keep_lines();
  second.feed("def\nEND\nghi\n");
  second.finish();
  second.take();
  for (const std::string& said : told_by(second.take_kept_lines()))
    EXPECT_THAT(said, testing::Not(HasSubstr("def")));
}

// An event that waits over a skipped line may depend on a line before it.
TEST_F(LinesKept, OfAFileInWhichSomethingIsPassedOverAreCoveredLoosely) {
  Reader reader = keeping();
  reader.feed("one\n" + std::string(Reader::kMaxLineBytes + 1, 'x') + "\ntwo\n");
  reader.begin_file();
  reader.feed("three\n");
  reader.finish();
  const std::uint64_t end = reader.take().to_offset;
  Rereader again(careful);
  const auto read =
      again.read({.from_offset = 0, .to_offset = end, .received = kNoon}, reader.take_kept_lines());
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->is_exact);
  EXPECT_EQ(again.covered(0), Rereader::Covered::loosely);
  EXPECT_EQ(again.covered(4), Rereader::Covered::not_at_all);
  EXPECT_EQ(again.covered(end - 7), Rereader::Covered::loosely);
  EXPECT_EQ(again.covered(end - 1), Rereader::Covered::exactly);
}

TEST_F(LinesKept, ThatAreNotWhatTheySayCoverNothing) {
  Reader reader = keeping();
  reader.feed("one\ntwo\n");
  reader.finish();
  reader.take();
  Rereader again(careful);
  EXPECT_FALSE(
      again.read({.from_offset = 0, .to_offset = 9, .received = kNoon}, reader.take_kept_lines()));
  EXPECT_EQ(again.covered(0), Rereader::Covered::not_at_all);
  EXPECT_FALSE(again.read({.from_offset = 0, .to_offset = 9, .received = kNoon},
                          std::string("\x03\xff\xff\xff\xff\x7f", 6)));
}

// A line that is exactly as wide as the rows waits for the next one, but the next one begins as a
// line does.
TEST_F(LinesKept, HideTheSecretOfARowThatEndsAnother) {
  Reader reader = keeping();
  std::string log;
  for (int i = 0; i < 6; ++i)
    log += fmt::format("2026-03-05T02:47:1{} word{} {}\n{}\n", i, i,
                       std::string(48, static_cast<char>('a' + i)), std::string(20, 'z'));
  const std::string full = "2026-03-05T02:47:20 words " + std::string(48, 'k') + "\n";
  log += full + "2026-03-05T02:47:21 key=12345\nend\n";
  reader.feed(log);
  reader.close();
  reader.take();
  for (const std::string& said : told_by(reader.take_kept_lines()))
    EXPECT_THAT(said, testing::Not(HasSubstr("12345")));
}

}  // namespace
}  // namespace faultline
