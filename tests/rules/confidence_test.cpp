#include "rules/knowledge/confidence.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

TEST(StatedConfidence, KeepsTheOrderAndNeverSaysThatItIsCertain) {
  double before = 0;
  for (int hundredth = 0; hundredth <= 100; ++hundredth) {
    const double stated = stated_confidence(hundredth / 100.0);
    EXPECT_GE(stated, before);
    before = stated;
  }
  EXPECT_LT(before, 1);
  EXPECT_EQ(stated_confidence(0), 0);
}

TEST(StatedConfidence, IsBelowNineTenthsWhereTheEvidenceIsNoProof) {
  EXPECT_LT(stated_confidence(0.8), 0.9);
  EXPECT_GE(stated_confidence(0.9), 0.9);
}

// What is only suspected stays a suspicion.
TEST(StatedConfidence, BlamesFromTheSameFirmnessOnAsItAlwaysDid) {
  EXPECT_LT(stated_confidence(0.69), kLeastToBlame);
  EXPECT_GE(stated_confidence(0.7), kLeastToBlame);
}

}  // namespace
}  // namespace faultline
