#include "http/spent_time.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>

namespace faultline {
namespace {

using namespace std::chrono_literals;

TEST(SpentTime, OfAJobAddsUpAndFades) {
  const SteadyTime now = steady_now();
  SpentTime spent;
  EXPECT_FALSE(spent.is_much("llama", now));
  for (int i = 0; i < 3; ++i) spent.add("llama", 100ms, now);
  EXPECT_TRUE(spent.is_much("llama", now));
  EXPECT_FALSE(spent.is_much("another", now));
  EXPECT_FALSE(spent.is_much("llama", now + SpentTime::kHalfLife));
  spent.add("llama", 150ms, now + SpentTime::kHalfLife);
  EXPECT_TRUE(spent.is_much("llama", now + SpentTime::kHalfLife)) << "half is left, and more came";
}

TEST(SpentTime, OfManySmallJobsDoesNotHideALargeOne) {
  const SteadyTime now = steady_now();
  SpentTime spent;
  spent.add("large", 10s, now);
  for (std::size_t i = 0; i < 3 * SpentTime::kMostJobs; ++i)
    spent.add(fmt::format("small-{}", i), 1ms, now);
  EXPECT_TRUE(spent.is_much("large", now));
}

TEST(SpentTime, IsCountedWhileItIsSpent) {
  SpentTime spent;
  {
    const Spending spending(&spent, "llama");
    const auto before = processor_time();
    while (processor_time() - before < SpentTime::kMuch) {
    }
  }
  EXPECT_TRUE(spent.is_much("llama", steady_now()));
}

}  // namespace
}  // namespace faultline
