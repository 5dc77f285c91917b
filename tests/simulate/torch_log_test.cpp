// What PyTorch prints about a job that hangs, in the wording of each version.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulated.h"

namespace faultline::simulation {
namespace {

using testing::HasSubstr;
using testing::Not;

Simulated told(const std::string& scenario, const std::string& torch) {
  Options options = small_job(scenario);
  options.evidence = "watchdog,launcher";
  options.torch = torch;
  return simulated(options);
}

std::string log_of(const Simulated& job, int rank) {
  return job.files.at(fmt::format("logs/gpu-node-{}/train.rank{}.log", 1 + rank / 2, rank));
}

// The culprit of the truth, and a rank that waits for it.
struct Two {
  int culprit;
  int other;
};
Two ranks_of(const Simulated& job) {
  const int culprit = job.truth.subject.ranks.front();
  return {culprit, (culprit + 1) % 4};
}

TEST(TorchLog, IsInTheWordsOfItsVersion) {
  const auto waiting = [](const std::string& torch) {
    const Simulated job = told("rank_behind", torch);
    return log_of(job, ranks_of(job).other);
  };
  EXPECT_THAT(waiting("1.13"), Not(HasSubstr("NumelIn")));
  EXPECT_THAT(waiting("1.13"), Not(HasSubstr("[rank")));
  EXPECT_THAT(waiting("1.13"), HasSubstr("Timeout(ms)=1800000"));
  EXPECT_THAT(waiting("2.1"), HasSubstr("NCCL watchdog thread terminated with exception: "));
  EXPECT_THAT(waiting("2.3"), HasSubstr("]:[E ProcessGroupNCCL.cpp:563] [Rank "));
  EXPECT_THAT(waiting("2.3"), HasSubstr("Timeout(ms)=600000"));
  EXPECT_THAT(waiting("2.5"), HasSubstr(":[E305 02:"));
  EXPECT_THAT(waiting("2.5"), HasSubstr("Exception (either an error or timeout) detected"));
  EXPECT_THAT(waiting("2.7"), HasSubstr("]  failure detected by watchdog at work sequence id: "));
  EXPECT_THAT(waiting("2.9"), HasSubstr(", only active collectives: 0"));
}

TEST(TorchLog, TellsWhoHadATimeOutFromWhoWasToldOfIt) {
  const Simulated job = told("rank_behind", "2.7");
  const auto [culprit, other] = ranks_of(job);
  EXPECT_THAT(log_of(job, culprit), Not(HasSubstr("Watchdog caught")));
  EXPECT_THAT(log_of(job, culprit), HasSubstr("Observed flight recorder dump signal"));
  EXPECT_THAT(log_of(job, culprit), HasSubstr("due to a collective timeout from  rank "));
  EXPECT_THAT(log_of(job, other), HasSubstr("due to a collective timeout from this local rank"));
}

TEST(TorchLog, HasTheTracebackOfWhoRaisedAndErrorsOfAllOthers) {
  const Simulated job = told("data_loader_error", "2.7");
  const auto [culprit, other] = ranks_of(job);
  EXPECT_THAT(log_of(job, culprit),
              HasSubstr(fmt::format("[rank{}]: Traceback (most recent call last):", culprit)));
  EXPECT_THAT(log_of(job, other), HasSubstr("NCCL error: remote process exited"));
  EXPECT_THAT(log_of(job, other), Not(HasSubstr("Traceback")));
}

TEST(TorchrunLog, TellsHowWorkersEnded) {
  const Simulated job = told("data_loader_error", "2.7");
  const int culprit = ranks_of(job).culprit;
  const std::string text =
      job.files.at(fmt::format("logs/gpu-node-{}/torchrun.log", 1 + culprit / 2));
  EXPECT_THAT(text, HasSubstr(fmt::format("failed (exitcode: 1) local_rank: {}", culprit % 2)));
  EXPECT_THAT(text, HasSubstr("closing signal SIGTERM"));
  EXPECT_THAT(text, HasSubstr("Root Cause (first observed failure):"));
}

TEST(TorchLog, SaysNothingWhereNothingIsWrong) {
  const Simulated job = told("healthy", "2.7");
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(log_of(job, rank), "");
}

}  // namespace
}  // namespace faultline::simulation
