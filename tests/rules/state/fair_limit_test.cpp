#include "rules/state/fair_limit.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

constexpr std::size_t kMost = 1000;

std::size_t admitted(FairLimit& limit, std::uint64_t kind, std::size_t asked) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < asked; ++i) count += limit.admit(kind) ? 1 : 0;
  return count;
}

TEST(FairLimit, KeepsEverythingAsLongAsLessThanHalfCame) {
  FairLimit limit(kMost);
  EXPECT_EQ(admitted(limit, 1, kMost / 2), kMost / 2);
  EXPECT_EQ(limit.left_out(), 0U);
}

TEST(FairLimit, OneKindAloneLeavesRoomForOthersAndIsCounted) {
  FairLimit limit(kMost);
  const std::size_t kept = admitted(limit, 1, 100 * kMost);
  EXPECT_LT(kept, kMost * 6 / 10);
  EXPECT_EQ(limit.left_out(), 100 * kMost - kept);
  EXPECT_EQ(admitted(limit, 2, 10), 10U);
}

TEST(FairLimit, ManyKindsTogetherStayBelowTheLimit) {
  FairLimit limit(kMost);
  std::size_t kept = 0;
  for (std::uint64_t kind = 0; kind < 10 * kMost; ++kind) kept += admitted(limit, kind, 3);
  EXPECT_EQ(kept, kMost);
  EXPECT_EQ(limit.left_out(), 30 * kMost - kept);
}

TEST(FairLimit, TextsOfOneFormAreOfOneKind) {
  EXPECT_EQ(kind_of_text("Call to thing17 failed : reason 17"),
            kind_of_text("Call to thing9 failed : reason 9"));
  EXPECT_NE(kind_of_text("warn NET/IB : Got completion from peer 10.0.0.1"),
            kind_of_text("warn NET/IB : Got async event : port error"));
  EXPECT_EQ(kind_of_text("short"), kind_of_text("short"));
  EXPECT_NE(kind_of_text(""), kind_of_text("short"));
}

}  // namespace
}  // namespace faultline
