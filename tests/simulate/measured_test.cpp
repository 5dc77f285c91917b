// Measurements of simulated jobs: the files agree with the truth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>
#include <regex>

#include "simulated.h"

namespace faultline::simulation {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Simulated measured(const std::string& scenario, std::uint64_t seed, std::string nccl = "2.21.5",
                   bool healthy = false) {
  Options options = small_job(scenario, std::move(nccl));
  options.nodes = 3;
  options.seed = seed;
  options.healthy = healthy;
  return simulated(options);
}

constexpr std::uint64_t kSeeds = 6;

TEST(Measured, ATableCountsWhatItsRowsHaveWrong) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    int wrong = 0;
    for (const auto& [name, text] : measured("wrong_results", seed).files) {
      if (name.find("all_reduce_perf") == std::string::npos) continue;
      int cells = 0;
      for (const std::string& line : lines_of(text)) {
        std::smatch row;
        if (std::regex_match(line, row, std::regex(R"( +\d+ .* (\S+) +\S+ +\S+ +\S+ +(\S+))")))
          cells += (row[1] != "0") + (row[2] != "0");
      }
      EXPECT_THAT(text, HasSubstr("# Out of bounds values : " + std::to_string(cells) +
                                  (cells > 0 ? " FAILED" : " OK")));
      wrong += cells > 0;
    }
    EXPECT_EQ(wrong, 1);
  }
}

TEST(Measured, OldTablesTellOfWrongResultsInTheirLastLinesAlone) {
  std::string all;
  for (const auto& [name, text] : measured("wrong_results", 1, "2.7.8").files) all += text;
  EXPECT_THAT(all, AllOf(HasSubstr("FAILED"), HasSubstr("  error\n"), Not(HasSubstr("#wrong"))));
}

// For each rank how long its GPU is in kernels of NCCL.
std::map<std::int64_t, double> waiting(const Simulated& job) {
  std::map<std::int64_t, double> sums;
  for (const auto& [name, text] : job.files) {
    if (name.find("trace_rank") == std::string::npos) continue;
    const auto trace = boost::json::parse(text).as_object();
    double& sum = sums[trace.at("distributedInfo").at("rank").as_int64()];
    for (const auto& event : trace.at("traceEvents").as_array())
      if (event.at("name").as_string().starts_with("ncclDevKernel_"))
        sum += event.at("dur").as_double();
  }
  return sums;
}

TEST(Measured, WhoeverComesLastWaitsLeast) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Simulated job = measured("straggler_profiled", seed);
    const auto sums = waiting(job);
    ASSERT_GT(sums.size(), 1U);
    const auto least =
        std::ranges::min_element(sums, {}, [](const auto& entry) { return entry.second; });
    ASSERT_EQ(job.truth.subject.ranks.size(), 1U);
    EXPECT_EQ(least->first, job.truth.subject.ranks.front());
  }
}

TEST(Measured, AllWaitAlikeForASlowNetwork) {
  const auto slow = waiting(measured("communication_bound", 1));
  const auto usual = waiting(measured("communication_bound", 1, "2.21.5", true));
  ASSERT_EQ(slow.size(), usual.size());
  for (const auto& [rank, sum] : slow) EXPECT_GT(sum, 3 * usual.at(rank));
}

TEST(Measured, ReportsOfStragglersNameTheRankOrShowItsTimeApart) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Simulated job = measured("straggler_reported", seed);
    const std::string& text = job.files.at("logs/straggler-report.txt");
    const std::string rank = std::to_string(job.truth.subject.ranks.front());
    if (text.find("WARNING") != std::string::npos) {
      EXPECT_THAT(text, testing::AnyOf(HasSubstr("detected: [" + rank + "]"),
                                       HasSubstr("{StragglerId(rank=" + rank + ", node='")));
    } else {
      EXPECT_TRUE(std::regex_search(
          text, std::regex(" rank " + rank + R"(: avg barrier time \S+ms \(0\.[0-2]\dx median\))")))
          << text;
    }
  }
}

TEST(Measured, DdpCountsRanksInTheGroupWhoseGradientsItReduces) {
  // Two hosts with two GPUs and a tensor-parallel group on each, so ranks 1 and 3 reduce together.
  Options options = small_job("unused_parameters");
  options.layout = Layout::per_rank;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    options.seed = seed;
    const Simulated job = simulated(options);
    for (const int rank : job.truth.subject.ranks)
      EXPECT_THAT(job.files.at("logs/gpu-node-" + std::to_string(1 + rank / 2) + "/nccl.rank" +
                               std::to_string(rank) + ".log"),
                  HasSubstr("[rank" + std::to_string(rank) +
                            "]: Parameter indices which did not receive grad for rank " +
                            std::to_string(rank / 2) + ": "));
  }
}

}  // namespace
}  // namespace faultline::simulation
