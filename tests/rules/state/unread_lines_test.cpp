#include "rules/state/unread_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace faultline {
namespace {

Batch said_by(const std::string& host) {
  Batch batch;
  batch.speakers = {{.host = host}};
  return batch;
}

Event unread(std::uint64_t line, const std::string& text) {
  Event event;
  event.line = line;
  event.text = text;
  event.fact = UnreadTrouble{.tells = TroubleKind::ends, .text = text};
  return event;
}

TEST(UnreadLinesOfAJob, StandForTheirFormInWhateverOrderTheSourcesCome) {
  for (const bool b_first : {false, true}) {
    UnreadLines lines;
    const auto add = [&](std::uint32_t source, const std::string& name, std::uint64_t line) {
      EXPECT_TRUE(lines.apply(source, name, said_by("n" + name),
                              unread(line, "pump " + name.substr(0, 1) + " broke 7")));
      EXPECT_TRUE(lines.apply(source, name, said_by("n" + name), unread(line + 1, "fan 7 broke")));
    };
    if (b_first) add(1, "b.log", 20);
    add(0, "a.log", 10);
    if (!b_first) add(1, "b.log", 20);
    ASSERT_EQ(lines.all().size(), 3);
    const UnreadLine& fan = lines.all().at("fan # broke");
    EXPECT_EQ(fan.sources, 2);
    EXPECT_EQ(fan.line.source, 0);
    EXPECT_EQ(fan.line.line, 11);
    EXPECT_EQ(fan.speaker.host, "na.log");
  }
}

TEST(UnreadLinesOfAJob, TakeNoOtherFacts) {
  UnreadLines lines;
  Event event;
  event.fact = Remark{.text = "fan 7 broke"};
  EXPECT_FALSE(lines.apply(0, "a.log", said_by("n"), event));
}

}  // namespace
}  // namespace faultline
