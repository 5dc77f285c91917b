#include "model/event_weight.h"

#include <gtest/gtest.h>

#include <numeric>

namespace faultline {
namespace {

std::uint64_t weight(Fact fact, std::string text = "a line") {
  Event event;
  event.fact = std::move(fact);
  event.text = std::move(text);
  return weight_of(event);
}

TEST(EventWeight, IsOneOfAUsualEvent) {
  EXPECT_EQ(weight(GpuXid{.gpu = "0000:3b:00", .code = 79, .detail = "GPU has fallen off"}), 1U);
  EXPECT_EQ(weight(ProcessExit{.teller = "srun", .host = "gpu-8", .ranks = {8, 9, 10}}), 1U);
}

TEST(EventWeight, GrowsWithAllThatItTells) {
  ProcessExit exit{.teller = "srun"};
  exit.ranks.resize(4096);
  std::iota(exit.ranks.begin(), exit.ranks.end(), 0);
  EXPECT_GT(weight(exit), 50U);
  PartReport report;
  report.values.assign(100, {.name = "symbol_errors", .value = "123"});
  EXPECT_GT(weight(report), 2U);
  EXPECT_GT(weight(Remark{.text = std::string(4096, 'x')}), 5U);
  EXPECT_GT(weight(Remark{}, std::string(2048, 'x')), 3U);
}

}  // namespace
}  // namespace faultline
