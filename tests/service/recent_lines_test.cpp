#include "service/recent_lines.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

constexpr std::uint64_t kFirstServer = 1;
constexpr std::uint64_t kNextServer = 2;

// What a source remembers after it got these bodies.
std::string after(const std::vector<std::string>& bodies) {
  RecentLines lines(kFirstServer);
  std::uint64_t offset = 0;
  for (const std::string& body : bodies) {
    lines.begin_body(offset);
    lines.add(body);
    offset += body.size();
  }
  return lines.saved(offset);
}

TEST(RecentLines, KnowsABodyThatIsSentAgainInOtherPieces) {
  const RecentLines lines(kNextServer, after({"a\nb\n", "c\nd\ne\n"}));
  EXPECT_EQ(lines.known_bytes("c\nd\ne\n"), 6U);
  EXPECT_EQ(lines.known_bytes("c\n"), 2U);
  EXPECT_EQ(lines.known_bytes("d\n"), 2U);
  EXPECT_EQ(lines.known_bytes("d\ne\n"), 4U);
  EXPECT_EQ(lines.known_bytes("b\nc\nd\n"), 6U);
}

TEST(RecentLines, TakesWhatFollowsTheLastKnownLineForNew) {
  const RecentLines lines(kNextServer, after({"a\nb\nc\n"}));
  EXPECT_EQ(lines.known_bytes("b\nc\nd\ne\n"), 4U);
  EXPECT_EQ(lines.known_bytes("a\nb\nc\nd\n"), 6U);
}

TEST(RecentLines, TakesABodyForNewThatOnlyBeginsLikeAnEarlierOne) {
  const RecentLines lines(kNextServer, after({"a\nb\nc\n"}));
  EXPECT_EQ(lines.known_bytes("a\nx\n"), 0U);
  EXPECT_EQ(lines.known_bytes("x\na\nb\nc\n"), 0U);
  EXPECT_EQ(lines.known_bytes("b\na\n"), 0U);
  EXPECT_EQ(lines.known_bytes(""), 0U);
}

TEST(RecentLines, FindsTheRightOneOfEqualLines) {
  const RecentLines lines(kNextServer, after({"a\na\nb\na\nc\n"}));
  EXPECT_EQ(lines.known_bytes("a\nc\n"), 4U);
  EXPECT_EQ(lines.known_bytes("a\nb\n"), 4U);
  EXPECT_EQ(lines.known_bytes("a\na\na\n"), 0U);
}

// A line whose block is not stored would be lost if it were known.
TEST(RecentLines, DoesNotKnowLinesBehindTheStoredOffset) {
  RecentLines writer(kFirstServer);
  writer.begin_body(100);
  writer.add("a\nb\n");
  writer.add("c\n");
  const RecentLines part(kNextServer, writer.saved(104));
  EXPECT_EQ(part.known_bytes("a\nb\n"), 4U);
  EXPECT_EQ(part.known_bytes("c\n"), 0U);
  EXPECT_EQ(part.known_bytes("a\nb\nc\n"), 4U);
  const RecentLines all(kNextServer, writer.saved(106));
  EXPECT_EQ(all.known_bytes("a\nb\nc\n"), 6U);
}

TEST(RecentLines, RemembersTheLastBodiesAndNotMoreThanItsMostLines) {
  std::vector<std::string> bodies;
  for (int body = 0; body < 20; ++body)
    bodies.push_back(std::to_string(body) + "\nrest of " + std::to_string(body) + "\n");
  const RecentLines lines(kNextServer, after(bodies));
  EXPECT_GT(lines.known_bytes(bodies[20 - RecentLines::kBodies]), 0U);
  EXPECT_EQ(lines.known_bytes(bodies[19 - RecentLines::kBodies]), 0U);

  std::string large;
  for (std::size_t line = 0; line < 3 * RecentLines::kLines; ++line)
    large += std::to_string(line) + "\n";
  const std::string saved = after({large});
  EXPECT_EQ(saved.size(), 8 * (1 + RecentLines::kLines));
  EXPECT_EQ(RecentLines(kNextServer, saved)
                .known_bytes(std::to_string(3 * RecentLines::kLines - 1) + "\n"),
            6U);
  EXPECT_EQ(RecentLines(kNextServer, saved).known_bytes(large), 0U);
}

// Equal lines may come at any time, but only a restart makes a sender cut its bodies anew.
TEST(RecentLines, KnowsNothingOnceSomethingNewHasComeToThisServer) {
  EXPECT_EQ(RecentLines(kFirstServer, after({"a\n"})).known_bytes("a\n"), 0U);
  RecentLines next(kNextServer, after({"a\nb\n"}));
  EXPECT_EQ(next.known_bytes("a\n"), 2U);
  next.begin_body(4);
  const std::string nothing_new = next.saved(4);
  EXPECT_EQ(RecentLines(kNextServer, nothing_new).known_bytes("b\n"), 2U);
  next.add("c\n");
  const std::string grown = next.saved(6);
  EXPECT_EQ(RecentLines(kNextServer, grown).known_bytes("b\n"), 0U);
}

TEST(RecentLines, KnowsNothingIfWhatWasSavedIsDamaged) {
  const std::string saved = after({"a\n"});
  EXPECT_EQ(RecentLines(kNextServer, saved.substr(1)).known_bytes("a\n"), 0U);
  EXPECT_EQ(
      RecentLines(kNextServer, std::string(8 * RecentLines::kLines + 16, 'x')).known_bytes("a\n"),
      0U);
}

}  // namespace
}  // namespace faultline
