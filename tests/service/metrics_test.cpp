#include "service/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace faultline {
namespace {

TEST(Metrics, TellOfTheLongestHandlerOnly) {
  Metrics metrics;
  for (const int milliseconds : {2, 7, 3})
    metrics.note_handler(std::chrono::milliseconds(milliseconds));
  Exposition out(MetricsFormat::prometheus);
  metrics.write(out);
  EXPECT_THAT(out.take(), testing::HasSubstr("\nfaultline_io_longest_seconds 0.007\n"));
}

}  // namespace
}  // namespace faultline
