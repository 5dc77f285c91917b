#include "service/folded_job.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

namespace faultline {
namespace {

std::shared_ptr<const Commit> commit_of(int number) {
  Commit commit;
  commit.source = {.job = "llama", .name = fmt::format("source-{}", number)};
  commit.batch.lines = 1;
  commit.received = Timestamp(std::chrono::seconds(number));
  return std::make_shared<const Commit>(std::move(commit));
}

TEST(FoldedJob, FoldsAtOnceWhatNobodyReads) {
  FoldedJob job("llama");
  bool done = false;
  job.fold(commit_of(1), [&](std::exception_ptr failure) { done = !failure; });
  EXPECT_TRUE(done);
  const FoldedJob::Reading state(job);
  EXPECT_EQ(state.version(), 1u);
  EXPECT_EQ(state->sources().all().size(), 1u);
  EXPECT_EQ(state.first_received(), Timestamp(std::chrono::seconds(1)));
}

TEST(FoldedJob, RefusesMoreProcessesThanAJobMayHold) {
  constexpr int kMost = 8;
  FoldedJob job("llama", {.processes = kMost});
  std::vector<bool> taken;
  for (int part = 0; part < 3; ++part) {
    Commit commit;
    commit.source = {.job = "llama", .name = "all"};
    for (int i = 0; i < kMost / 2; ++i)
      commit.batch.speakers.push_back({.host = fmt::format("host-{}-{}", part, i)});
    job.fold(std::make_shared<const Commit>(std::move(commit)),
             [&](std::exception_ptr failure) { taken.push_back(!failure); });
  }
  EXPECT_EQ(taken, (std::vector{true, true, false}));
}

TEST(FoldedJob, WritersDoNotWaitForAReader) {
  FoldedJob job("llama");
  std::vector<int> done;
  {
    const FoldedJob::Reading state(job);
    std::async(std::launch::async, [&] {
      for (int number = 1; number <= 3; ++number)
        job.fold(commit_of(number), [&, number](std::exception_ptr) { done.push_back(number); });
    }).get();  // does not wait for the reader of the state
    EXPECT_EQ(state.version(), 0u);
    EXPECT_TRUE(done.empty());
  }
  EXPECT_EQ(done, (std::vector{1, 2, 3}));
  EXPECT_EQ(FoldedJob::Reading(job).version(), 3u);
}

TEST(FoldedJob, WhoReadsAfterAnAcknowledgementSeesWhatWasAcknowledged) {
  FoldedJob job("llama");
  constexpr int kCommits = 2000;
  std::atomic<std::uint64_t> acknowledged = 0;
  std::atomic<bool> stop = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i)
    readers.emplace_back([&] {
      while (!stop) {
        const std::uint64_t before = acknowledged;
        const FoldedJob::Reading state(job);
        EXPECT_GE(state.version(), before);
        EXPECT_EQ(state->sources().all().size(), state.version());
      }
    });
  for (int number = 0; number < kCommits; ++number)
    job.fold(commit_of(number), [&](std::exception_ptr) { ++acknowledged; });
  while (acknowledged < kCommits) std::this_thread::yield();
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(FoldedJob::Reading(job).version(), static_cast<std::uint64_t>(kCommits));
}

}  // namespace
}  // namespace faultline
