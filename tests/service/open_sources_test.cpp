#include "service/open_sources.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

TEST(OpenSources, TakesASourceFromItsOlderSender) {
  OpenSources sources;
  int told = 0;
  const auto older = sources.take("job", "dmesg", [&] { ++told; });
  const auto newer = sources.take("job", "dmesg", [] {});
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(older->lost());
  EXPECT_FALSE(newer->lost());
  bool written = false;
  EXPECT_FALSE(older->write([&] { written = true; }));
  EXPECT_FALSE(written);
  EXPECT_TRUE(newer->write([&] { written = true; }));
  EXPECT_TRUE(written);
}

TEST(OpenSources, LeavesOtherSourcesAndJobsAlone) {
  OpenSources sources;
  const auto one = sources.take("job", "dmesg", [] {});
  const auto two = sources.take("job", "nccl", [] {});
  const auto three = sources.take("other", "dmesg", [] {});
  EXPECT_FALSE(one->lost());
  EXPECT_EQ(sources.count(), 3U);
  EXPECT_EQ(sources.jobs(), (std::set<std::string>{"job", "other"}));
}

TEST(OpenSources, NumbersSendersThatNameNoSource) {
  OpenSources sources;
  auto first = sources.take_free("job", "n1/10.0.0.1", [] {});
  const auto second = sources.take_free("job", "n1/10.0.0.1", [] {});
  const auto third = sources.take_free("job", "n1/10.0.0.1", [] {});
  EXPECT_EQ(first->name(), "n1/10.0.0.1");
  EXPECT_EQ(second->name(), "n1/10.0.0.1#2");
  EXPECT_EQ(third->name(), "n1/10.0.0.1#3");
  first.reset();
  EXPECT_EQ(sources.take_free("job", "n1/10.0.0.1", [] {})->name(), "n1/10.0.0.1");
}

TEST(OpenSources, CountsASourceAsLiveForAWhileAfterItsLastBytes) {
  using namespace std::chrono_literals;
  OpenSources sources(30s);
  const auto lease = sources.take("job", "dmesg", [] {});
  const SteadyTime start = steady_now();
  lease->touch(start);
  EXPECT_EQ(sources.live("job", start + 30s).count("dmesg"), 1U);
  EXPECT_TRUE(sources.live("job", start + 31s).empty());
  EXPECT_TRUE(sources.live("other", start).empty());
  EXPECT_EQ(sources.open("job").count("dmesg"), 1U);
  lease->touch(start + 60s);
  EXPECT_EQ(sources.live("job", start + 61s).size(), 1U);
}

TEST(OpenSources, CountsASourceAsLiveThatIsSentInPieces) {
  using namespace std::chrono_literals;
  OpenSources sources(30s);
  const SteadyTime start = steady_now();
  sources.body_ended("job", "rank0", start, false, false);
  EXPECT_TRUE(sources.live("job", start).empty()) << "one piece may be all there is";
  sources.body_ended("job", "rank0", start + 20s, false, false);
  EXPECT_EQ(sources.live("job", start + 50s).count("rank0"), 1U);
  EXPECT_TRUE(sources.live("job", start + 51s).empty());
  sources.body_ended("job", "rank0", start + 45s, false, true);
  EXPECT_TRUE(sources.live("job", start + 46s).empty()) << "it was the last";
}

TEST(OpenSources, BelievesASenderThatSaysWhereItsPieceLies) {
  using namespace std::chrono_literals;
  OpenSources sources(30s);
  const SteadyTime start = steady_now();
  sources.body_ended("job", "rank0", start, true, false);
  EXPECT_EQ(sources.live("job", start).count("rank0"), 1U);
  sources.body_ended("job", "rank1", start, true, true);
  EXPECT_EQ(sources.live("job", start).count("rank1"), 0U);
}

}  // namespace
}  // namespace faultline
