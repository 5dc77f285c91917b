#include "service/resend_filter.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "held_blocks.h"

namespace faultline {
namespace {

// A source as the server stores it, in blocks.
class Held {
 public:
  Held& block(const std::string& bytes, bool starts_body = false) {
    Fingerprint print;
    print.from_offset = bytes_;
    print.to_offset = bytes_ + bytes.size();
    print.digest = digest_of(bytes);
    print.head_digest = digest_of(std::string_view(bytes).substr(0, kHeadBytes));
    print.starts_body = starts_body;
    bytes_ += bytes.size();
    prints.push_back(print);
    return *this;
  }

  std::vector<Fingerprint> prints;

 private:
  std::uint64_t bytes_ = 0;
};

struct Sent {
  std::string fresh;
  std::uint64_t duplicates = 0;
  bool continues = false;
};

Sent send(const Held& held, std::string_view body, std::size_t piece_size = 100) {
  ResendFilter filter(held_blocks(held.prints));
  Sent sent;
  for (std::size_t at = 0; at < body.size(); at += piece_size)
    sent.fresh += filter.feed(body.substr(at, piece_size));
  sent.fresh += filter.finish();
  sent.duplicates = filter.duplicate_bytes();
  sent.continues = filter.continues_source();
  return sent;
}

// Lines that are all different.
std::string lines(std::string_view name, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::string(name) + " line " + std::to_string(i) + "\n";
  return text;
}

TEST(ResendFilter, TakesAllOfABodyForNewWhenNothingIsHeld) {
  const Sent sent = send({}, lines("a", 100));
  EXPECT_EQ(sent.fresh, lines("a", 100));
  EXPECT_EQ(sent.duplicates, 0U);
}

TEST(ResendFilter, LetsNothingThroughWhenTheSameBodyIsSentAgain) {
  const std::string one = lines("one", 50);
  const std::string two = lines("two", 300);
  Held held;
  held.block(one, true).block(two);
  for (const std::size_t piece : {1UL, 7UL, 256UL, 100000UL}) {
    SCOPED_TRACE(piece);
    const Sent sent = send(held, one + two, piece);
    EXPECT_EQ(sent.fresh, "");
    EXPECT_EQ(sent.duplicates, one.size() + two.size());
    EXPECT_TRUE(sent.continues);
  }
}

TEST(ResendFilter, LetsThroughWhatAFileGrewBy) {
  const std::string old = lines("old", 200);
  Held held;
  held.block(old.substr(0, 1000), true).block(old.substr(1000));
  for (const std::string& grown : {std::string("new\n"), lines("new", 400)}) {
    const Sent sent = send(held, old + grown);
    EXPECT_EQ(sent.fresh, grown);
    EXPECT_EQ(sent.duplicates, old.size());
    EXPECT_TRUE(sent.continues);
  }
}

TEST(ResendFilter, KnowsAFileThatGrewTwice) {
  Held held;
  held.block(lines("a", 90), true).block(lines("b", 3)).block(lines("c", 50));
  const Sent sent = send(held, lines("a", 90) + lines("b", 3) + lines("c", 50) + "d\n");
  EXPECT_EQ(sent.fresh, "d\n");
}

TEST(ResendFilter, TakesEverythingForNewFromTheFirstBlockThatDiffers) {
  const std::string same = lines("same", 40);
  Held held;
  held.block(same, true).block(lines("first boot", 100));
  const Sent sent = send(held, same + lines("second boot", 100));
  EXPECT_EQ(sent.fresh, lines("second boot", 100));
  EXPECT_FALSE(sent.continues);
}

TEST(ResendFilter, KnowsABodyThatBranchedOffAnotherWhenItComesAgain) {
  const std::string same = lines("same", 40);
  Held held;
  held.block(same, true).block(lines("first boot", 100)).block(lines("second boot", 100), true);
  EXPECT_EQ(send(held, same + lines("second boot", 100)).fresh, "");
  EXPECT_EQ(send(held, same + lines("first boot", 100)).fresh, "");
}

// As the log of a second attempt that is sent whole each time it has grown by a line.
TEST(ResendFilter, KnowsABranchOfAFewBytes) {
  const std::string banner(400, '*');
  Held held;
  held.block(banner, true).block("first\n").block("second\n", true);
  EXPECT_EQ(send(held, banner + "second\n").fresh, "");
  const Sent grown = send(held, banner + "second\nthird\n");
  EXPECT_EQ(grown.fresh, "third\n");
  EXPECT_TRUE(grown.continues);
}

TEST(ResendFilter, TellsBodiesApartThatBeginAlike) {
  const std::string head(400, 'h');
  Held held;
  held.block(head + lines("one", 50), true).block(head + lines("two", 50), true);
  EXPECT_EQ(send(held, head + lines("two", 50)).fresh, "");
  EXPECT_EQ(send(held, head + lines("one", 50)).fresh, "");
  EXPECT_EQ(send(held, head + lines("six", 50)).fresh, head + lines("six", 50));
}

// Each body ends a block, so an older copy that comes late is known.
TEST(ResendFilter, KnowsAShorterCopyThatWasABodyItself) {
  Held held;
  held.block(lines("a", 500), true).block(lines("b", 500)).block(lines("c", 20));
  EXPECT_EQ(send(held, lines("a", 500)).fresh, "");
  EXPECT_EQ(send(held, lines("a", 500) + lines("b", 500)).fresh, "");
}

// The log of a second attempt begins with the same banner and is shorter.
TEST(ResendFilter, TakesAShorterBodyThatBeginsAlikeForNew) {
  const std::string banner(400, '*');
  Held held;
  held.block(banner + lines("first attempt", 500), true).block(lines("more", 500));
  const std::string second = banner + lines("second attempt", 9);
  const Sent sent = send(held, second);
  EXPECT_EQ(sent.fresh, second);
  EXPECT_EQ(sent.duplicates, 0U);
  EXPECT_FALSE(sent.continues);
  const std::string with_more = banner + lines("first attempt", 500) + "mor";
  EXPECT_EQ(send(held, with_more).fresh, "mor");
}

TEST(ResendFilter, LosesNoLineBehindOneThatIsTooLongToBeRead) {
  const std::string held_line = std::string(2 << 20, 'x') + "\n";
  Held held;
  held.block(held_line, true).block(lines("a", 100));
  for (const std::size_t piece : {1000UL, 65536UL, std::size_t{8} << 20}) {
    SCOPED_TRACE(piece);
    EXPECT_EQ(send(held, held_line + lines("a", 100) + lines("b", 10), piece).fresh,
              lines("b", 10));
    const std::string shorter = std::string(3 << 19, 'x') + "\n";
    const std::string fresh = send(held, shorter + lines("b", 100), piece).fresh;
    EXPECT_TRUE(fresh.ends_with(lines("b", 100))) << fresh.size();
    Held both = held;
    both.block(lines("b", 100), true);
    if (piece < shorter.size()) {
      EXPECT_EQ(send(both, shorter + lines("b", 100), piece).fresh, "") << "it came before";
    }
    const std::string longer = std::string(3 << 20, 'x') + "\n";
    EXPECT_TRUE(send(held, longer + lines("b", 100), piece).fresh.ends_with(lines("b", 100)));
  }
}

// A dump that is written again without stacks begins like the one before and is shorter.
TEST(ResendFilter, TakesAShorterBodyForAnotherOneWhereItMeansSomethingOnlyAsAWhole) {
  Held held;
  held.block(lines("a", 100), true);
  const std::string shorter = lines("a", 60);
  ResendFilter filter(held_blocks(held.prints));
  filter.expect_whole_bodies();
  std::string fresh(filter.feed(shorter));
  fresh += filter.finish();
  EXPECT_EQ(fresh, shorter);
  ResendFilter again(held_blocks(held.prints));
  again.expect_whole_bodies();
  EXPECT_EQ(again.feed(lines("a", 100)), "");
  EXPECT_EQ(again.finish(), "");
}

// A profiler's trace has hundreds of megabytes, and the traces of all ranks begin alike.
TEST(ResendFilter, DoesNotHoldBackWhatIsLargerThanMayBeHeld) {
  const std::string beginning = lines("trace", 100);
  Held held;
  held.block(beginning, true);
  held.prints[0].to_offset = std::uint64_t{300} << 20;
  ResendFilter filter(held_blocks(held.prints));
  filter.expect_whole_bodies();
  EXPECT_EQ(filter.feed(beginning), beginning);
  EXPECT_TRUE(filter.passes_all());
}

TEST(ResendFilter, DoesNotTakeABodyThatIsOneLineForAnotherOneByItsHead) {
  const std::string one = std::string(3 << 20, 'x') + "1";
  const std::string two = std::string(3 << 20, 'x') + "2";
  Held held;
  held.block(one, true);
  ResendFilter filter(held_blocks(held.prints));
  filter.expect_whole_bodies();
  std::string fresh(filter.feed(two));
  fresh += filter.finish();
  EXPECT_EQ(fresh, two);
}

TEST(ResendFilter, TakesABodyTooShortToRecogniseForNew) {
  Held held;
  held.block(lines("a", 500), true);
  EXPECT_EQ(send(held, "a line 0\n").fresh, "a line 0\n");
}

TEST(ResendFilter, DoesNotDropALineThatAFileBeganWithAndGrewBy) {
  Held held;
  held.block("tick\n", true);
  EXPECT_EQ(send(held, "tick\ntick\n").fresh, "tick\n");
}

// Each held block may match only one stretch of a body.
TEST(ResendFilter, LetsEqualLinesThroughBeyondThoseThatAreHeld) {
  const std::string line = "INFO: task python:123 blocked for more than 120 seconds.\n";
  std::string once;
  for (int i = 0; i < 100; ++i) once += line;
  Held held;
  held.block(once.substr(0, 40 * line.size()), true).block(once.substr(40 * line.size()));
  for (const std::size_t piece : {7UL, 4096UL, 100000UL}) {
    SCOPED_TRACE(piece);
    const Sent sent = send(held, once + once + once, piece);
    EXPECT_EQ(sent.duplicates, once.size());
    EXPECT_EQ(sent.fresh, once + once);
    EXPECT_TRUE(sent.continues);
    EXPECT_EQ(send(held, once, piece).fresh, "");
  }
}

TEST(ResendFilter, KnowsBodiesInAnotherOrderAndEachOnlyOnce) {
  const std::string one = lines("one", 60);
  const std::string two = lines("two", 60);
  Held held;
  held.block(two, true).block(one, true);
  const Sent sent = send(held, one + two + one);
  EXPECT_EQ(sent.duplicates, one.size() + two.size());
  EXPECT_EQ(sent.fresh, one);
}

TEST(ResendFilter, IgnoresBlocksWithoutBytes) {
  Held held;
  held.block("", true).block(lines("a", 50), true).block("");
  EXPECT_EQ(send(held, lines("a", 50)).fresh, "");
  EXPECT_EQ(send(held, lines("b", 50)).fresh, lines("b", 50));
}

TEST(ResendFilter, NeverHoldsBackMoreThanABlockAndAPiece) {
  const std::string overlong(8 * kMaxBlockBytes, 'x');
  Held held;
  held.block(overlong + "\n", true).block(lines("a", 50));
  ResendFilter filter(held_blocks(held.prints));
  const std::string body = overlong + "\n" + lines("a", 50) + "new\n";
  std::size_t waiting = 0;
  std::uint64_t accounted = 0;
  std::string fresh;
  for (std::size_t at = 0; at < body.size(); at += 65536) {
    const std::string_view piece = std::string_view(body).substr(at, 65536);
    fresh += filter.feed(piece);
    accounted = filter.duplicate_bytes() + fresh.size();
    waiting = std::max<std::size_t>(waiting, at + piece.size() - accounted);
  }
  fresh += filter.finish();
  EXPECT_EQ(fresh, "new\n");
  EXPECT_LE(waiting, kMaxBlockBytes + 65536);
}

TEST(ResendFilter, LetsAStreamThatPausesBeSeenUnlessItLooksKnown) {
  Held held;
  held.block(lines("a", 500), true);
  {
    ResendFilter filter(held_blocks(held.prints));
    EXPECT_EQ(filter.feed("Xid 79\n"), "");
    EXPECT_EQ(filter.settle(false), "") << "it may be the beginning of what is held";
    EXPECT_EQ(filter.settle(true), "Xid 79\n");
    EXPECT_EQ(filter.feed("more\n"), "more\n");
    EXPECT_EQ(filter.finish(), "");
  }
  {
    ResendFilter filter(held_blocks(held.prints));
    EXPECT_EQ(filter.feed(lines("a", 100)), "");
    EXPECT_EQ(filter.settle(true), "") << "the beginning of a known block";
  }
  {
    ResendFilter filter(held_blocks(held.prints));
    EXPECT_EQ(filter.feed(lines("a", 500) + "new\n"), "new\n") << "all that is held came already";
  }
  {
    held.block(lines("b", 500), true);
    ResendFilter filter(held_blocks(held.prints));
    EXPECT_EQ(filter.feed(lines("b", 500) + "new\n"), "");
    EXPECT_EQ(filter.settle(false), "");
    EXPECT_EQ(filter.settle(true), "new\n");
  }
}

}  // namespace
}  // namespace faultline
