// Jobs that reach a server in every way, with a question after each request. `./dev accuracy
// --moments` runs all jobs, this test some.
#include "accuracy/moments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace faultline::accuracy {
namespace {

std::string told(const std::vector<MomentTrouble>& troubles) {
  std::string all;
  for (const MomentTrouble& trouble : troubles) all += trouble.job + ": " + trouble.what + "\n";
  return all;
}

TEST(Moments, AreTrueInWhicheverWayTheLogsArrive) {
  const std::vector<WayScore> scores =
      run_moments({.program = FAULTLINE_BINARY,
                   .patience = std::chrono::seconds{30},
                   .seed = 1,
                   .every = 150,
                   .threads = static_cast<unsigned>(std::size(kWays))},
                  families());
  ASSERT_EQ(scores.size(), std::size(kWays));
  for (const WayScore& score : scores) {
    SCOPED_TRACE(std::string(name_of(score.way)));
    EXPECT_GE(score.jobs, 2U);
    EXPECT_EQ(told(score.healthy), "") << "called healthy, and has a fault";
    EXPECT_EQ(told(score.innocent), "") << "accused, and is innocent";
    EXPECT_EQ(told(score.alarms), "") << "a fault was told of a job that has none";
    EXPECT_EQ(told(score.withdrawn), "") << "told, and taken back";
    EXPECT_EQ(told(score.otherwise), "") << "another answer than that of the files in a folder";
  }
}

}  // namespace
}  // namespace faultline::accuracy
