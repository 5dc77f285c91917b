#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "start.h"

namespace faultline {
namespace {

using testing::ElementsAre;

const SettingView* setting_named(const JobDetail& detail, std::string_view setting,
                                 std::string_view value) {
  const auto found = std::ranges::find_if(detail.settings, [&](const SettingView& view) {
    return view.setting == setting && view.value == value;
  });
  return found == detail.settings.end() ? nullptr : &*found;
}

TEST(JobDetail, TellsHowTheJobWasSetUp) {
  Job job;
  start(job, 24, [](int rank) {
    RankStart start;
    start.devices = "mlx5_0:1/IB";
    if (rank / 8 == 1) start.driver = "12040";
    return start;
  });
  const JobDetail detail = detail_of(job.state, job.diagnosis());
  EXPECT_THAT(detail.nics, ElementsAre("node-0/mlx5_0:1", "node-1/mlx5_0:1", "node-2/mlx5_0:1"));
  EXPECT_THAT(detail.network, ElementsAre("IB"));
  EXPECT_THAT(detail.versions.at("nccl"), ElementsAre("2.27.7+cuda12.8"));
  EXPECT_THAT(detail.versions.at("driver"), ElementsAre("12040", "12080"));
  const SettingView* odd = setting_named(detail, "version driver", "12040");
  ASSERT_NE(odd, nullptr);
  EXPECT_EQ(odd->hosts, 1);
  EXPECT_THAT(odd->only_on, ElementsAre("node-1"));
  const SettingView* common = setting_named(detail, "version driver", "12080");
  ASSERT_NE(common, nullptr);
  EXPECT_EQ(common->hosts, 2);
  EXPECT_THAT(common->only_on, ElementsAre());
}

TEST(JobDetail, TellsOfTheAttemptThatIsAskedFor) {
  Job job;
  start(job, 8, all_alike());
  job.restart();
  RankStart other;
  other.nccl = "2.28.3+cuda12.8";
  start(job, 8, all_alike(other));
  EXPECT_THAT(detail_of(job.state, job.diagnosis()).versions.at("nccl"),
              ElementsAre("2.28.3+cuda12.8"));
  EXPECT_THAT(detail_of(job.state, job.diagnosis(1)).versions.at("nccl"),
              ElementsAre("2.27.7+cuda12.8"));
}

}  // namespace
}  // namespace faultline
