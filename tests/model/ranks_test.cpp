#include "model/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Ranks, RunsAndStridesAreShort) {
  EXPECT_EQ(to_text(std::vector{0, 1, 2, 3, 4, 5, 6, 7}), "0-7");
  EXPECT_EQ(to_text(std::vector{2, 6, 10, 14}), "2-14/4");
  EXPECT_EQ(to_text(std::vector{2, 3, 6, 7, 10, 11}), "2-3 6-7 10-11");
  EXPECT_EQ(to_text(std::vector{1, 5}), "1 5");
  EXPECT_EQ(to_text(std::vector{7}), "7");
  EXPECT_EQ(to_text(std::vector<int>{}), "");
}

TEST(Ranks, TheyComeBackAsTheyWere) {
  for (const std::vector<int>& ranks : std::vector<std::vector<int>>{
           {}, {0}, {1, 5}, {0, 1, 2}, {2, 6, 10, 14}, {0, 2, 3, 9, 16, 24, 32, 33}})
    EXPECT_EQ(ranks_of(to_text(ranks)), ranks) << to_text(ranks);
}

TEST(Ranks, ListsAsPyTorchPrintsThemAreRead) {
  EXPECT_THAT(ranks_in_list("[0, 1, 2]"), ElementsAre(0, 1, 2));
  EXPECT_THAT(ranks_in_list("[5, 1, 5]"), ElementsAre(1, 5));
  EXPECT_THAT(ranks_in_list("[]"), IsEmpty());
  EXPECT_THAT(ranks_in_list("none"), IsEmpty());
  EXPECT_THAT(ranks_in_list("[99999999999999999999, 3]"), ElementsAre(3));
}

TEST(Ranks, HostileTextsMakeNoLargeSets) {
  EXPECT_THAT(ranks_of("0-99999999999"), IsEmpty());
  EXPECT_THAT(ranks_of("3-1 x"), IsEmpty());
  EXPECT_THAT(ranks_of("-5"), IsEmpty());
  EXPECT_LE(ranks_of("0-1048575 0-1048575 0-1048575").size(), std::size_t{kMaxRanks});
}

}  // namespace
}  // namespace faultline
