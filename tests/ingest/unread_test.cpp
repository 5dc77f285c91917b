// Lines that look like trouble and that no parser reads: one of each form is kept, and it is
// reported however the bytes arrive.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ingest/reader.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class LooksForWords : public Noteworthy {
 public:
  bool wants(std::string_view, std::string_view) const override { return false; }
  bool reads_like_kernel(std::string_view) const override { return false; }
  std::optional<std::size_t> nccl_warning_in(std::string_view) const override { return {}; }
  TroubleKind trouble_in(std::string_view text) const override {
    return text.find("broke") != std::string_view::npos     ? TroubleKind::ends
           : text.find("failed") != std::string_view::npos  ? TroubleKind::fails
           : text.find("is down") != std::string_view::npos ? TroubleKind::hints
                                                            : TroubleKind::none;
  }
  bool completes(const Remark&, std::string_view) const override { return false; }
};

struct Told {
  std::vector<std::string> unread;
  std::uint64_t recognized = 0;

  void add(const Batch& batch) {
    recognized += batch.recognized;
    for (const Event& event : batch.events)
      if (const auto* trouble = std::get_if<UnreadTrouble>(&event.fact))
        unread.push_back(fmt::format("{}:{}{}", event.line, trouble->text,
                                     trouble->tells == TroubleKind::hints ? " (a hint)" : ""));
  }
};

Reader reader_at(const Cursor& cursor) {
  return {cursor, Timestamp{}, std::make_shared<LooksForWords>()};
}

Told told_by(const std::string& text) {
  Reader reader = reader_at({});
  reader.feed(text);
  reader.close();
  Told told;
  told.add(reader.take());
  return told;
}

TEST(UnreadLines, AreKeptAndStayUnread) {
  const Told told = told_by("step 1\nthe pump broke\nstep 2\n");
  EXPECT_THAT(told.unread, ElementsAre("2:the pump broke"));
  EXPECT_EQ(told.recognized, 0);
}

TEST(UnreadLines, OfOneFormAreOne) {
  EXPECT_THAT(told_by("pump 7 of 0x7f00 broke\npump 8 of 0x7f10 broke\nfan 8 broke\n").unread,
              ElementsAre("1:pump 7 of 0x7f00 broke", "3:fan 8 broke"));
}

TEST(UnreadLines, OfTheKernelAndOfAHostsProgramsAreHintsAtMost) {
  EXPECT_THAT(told_by("[   12.345678] ourdrv 0000:3b:00.0: the pump broke\n"
                      "Mar  5 02:47:10 node-7 ourd[412]: the pump failed\n"
                      "the fan is down\n")
                  .unread,
              ElementsAre("1:ourdrv 0000:3b:00.0: the pump broke (a hint)",
                          "2:the pump failed (a hint)", "3:the fan is down (a hint)"));
}

TEST(UnreadLines, HintsLeaveRoomForWhatEnded) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += fmt::format("part {} is down\n", std::string(i + 1, 'x'));
  text += "the pump broke\n";
  const Told told = told_by(text);
  EXPECT_THAT(told.unread, SizeIs(49));
  EXPECT_EQ(told.unread.back(), "101:the pump broke");
}

TEST(UnreadLines, AreFewAndThoseThatOnlyFailedLeaveRoomForOthers) {
  std::string text;
  for (char c = 'a'; c <= 'z'; ++c) text += fmt::format("part {} failed\n", c);
  for (char c = 'a'; c <= 'z'; ++c) text += fmt::format("part {} broke\n", c);
  const Told told = told_by(text);
  EXPECT_THAT(told.unread, SizeIs(24));
  EXPECT_EQ(told.unread[7], "8:part h failed");
  EXPECT_EQ(told.unread[8], "27:part a broke");
}

TEST(UnreadLines, ThatAParserKnowsAreNotKept) {
  EXPECT_THAT(told_by("n7:41:41 [0] NCCL INFO what broke\n").unread, IsEmpty());
}

TEST(UnreadLines, AreTheSameHoweverTheBytesCome) {
  const std::string text = "pump 7 broke\npump 8 broke\nfan failed\nstep\npump 9 broke\nfan broke";
  const Told whole = told_by(text);
  EXPECT_THAT(whole.unread, ElementsAre("1:pump 7 broke", "3:fan failed", "6:fan broke"));
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    Told told;
    Reader reader = reader_at({});
    for (std::size_t at = 0; at < text.size(); at += piece) {
      reader.feed(text.substr(at, piece));
      reader.finish();
      told.add(reader.take());
      reader = reader_at(reader.cursor());
    }
    reader.close();
    told.add(reader.take());
    EXPECT_EQ(told.unread, whole.unread) << piece;
  }
}

TEST(UnreadLines, OfASourceAreToldOnceThoughItIsSentAnew) {
  Told told;
  Reader reader = reader_at({});
  for (int body = 0; body < 3; ++body) {
    reader.feed("pump 7 broke\n");
    reader.finish();
    told.add(reader.take());
    reader = reader_at(reader.cursor());
    reader.begin_file();
    told.add(reader.take());
    reader = reader_at(reader.cursor());
  }
  EXPECT_THAT(told.unread, SizeIs(1));
}

}  // namespace
}  // namespace faultline
