// What a server that runs for a long time does with stored data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "committed.h"
#include "model/json.h"
#include "rules/knowledge/live_catalog.h"
#include "service/retention.h"
#include "workshop.h"

namespace faultline {
namespace {

using std::chrono::hours;
using testing::ElementsAre;
using testing::IsEmpty;

class LongRunning : public testing::Test {
 protected:
  struct Running {
    explicit Running(const std::filesystem::path& file) : store(file) { jobs.start(stop); }

    Store store;
    LiveCatalog catalog{load_catalog()};
    Metrics metrics;
    std::atomic<bool> stop{false};
    LiveJobs jobs{store, catalog, metrics};
  };

  LongRunning() { restart(); }

  void restart() {
    server.reset();
    server = std::make_unique<Running>(workshop.folder() / "f.db");
  }

  void commit(Commit commit) { EXPECT_FALSE(committed(server->jobs, std::move(commit))); }

  // A line that says that a GPU is lost.
  static Commit loss_of_a_gpu(const std::string& job, Timestamp received) {
    Commit commit{.source = {.job = job, .name = "kern.log", .host = "n7"}, .received = received};
    commit.batch.speakers = {{.host = "n7"}};
    commit.batch.lines = commit.batch.recognized = 1;
    commit.batch.to_offset = commit.position.offset = 100;
    commit.batch.dialects = {{"kernel", 1}};
    commit.batch.events = {{.line = 1,
                            .time = EventTime::at(received),
                            .fact = GpuXid{.gpu = "0000:3b:00.0", .code = 79},
                            .text = "NVRM: Xid (PCI:0000:3b:00): 79"}};
    commit.fingerprint = {0, 100, 1, 1, true};
    return commit;
  }

  Workshop workshop;
  std::unique_ptr<Running> server;
};

// Calls of one rank, a hundred thousand in each batch.
Commit nth_of_many_calls(std::uint64_t index, int rank) {
  constexpr std::uint32_t kCalls = 100'000;
  constexpr std::uint32_t kBytesOfLine = 150;
  Commit commit{.source = {.job = "long", .name = fmt::format("rank{}", rank)},
                .received = Timestamp(hours(24 * 21'000)) + std::chrono::seconds(index)};
  Batch& batch = commit.batch;
  batch.from_offset = std::uint64_t{index} * kCalls * kBytesOfLine;
  batch.to_offset = commit.position.offset =
      batch.from_offset + std::uint64_t{kCalls} * kBytesOfLine;
  batch.first_line = 1 + index * kCalls;
  batch.lines = batch.recognized = kCalls;
  batch.speakers = {{.host = "n1", .pid = 100 + rank, .device = rank}};
  batch.signatures = {{.function = "AllReduce", .count = 1024, .datatype = 7},
                      {.function = "AllGather", .count = 512, .datatype = 7}};
  if (index == 0)
    batch.events = {{.line = 1,
                     .fact = CommunicatorInit{.communicator = 7,
                                              .rank = rank,
                                              .nranks = 2,
                                              .communicator_id = "0x1",
                                              .complete = true}}};
  CallRun run{.order = 1, .communicator = 7, .nranks = 2, .last_text = "the last of them"};
  for (std::uint32_t i = 0; i < kCalls; ++i)
    run.calls.push_back({index * kCalls + i, i % 3 == 0 ? 1U : 0U, i, i * kBytesOfLine});
  batch.runs.push_back(std::move(run));
  commit.fingerprint = {batch.from_offset, batch.to_offset, index, index, index == 0};
  return commit;
}

TEST_F(LongRunning, WhatCallsCameToTakesTheirPlaceAndTheJobStaysTheSame) {
  // Rank 1 is behind.
  for (std::uint64_t index = 0; index < 16; ++index) commit(nth_of_many_calls(index, 0));
  for (std::uint64_t index = 0; index < 12; ++index) commit(nth_of_many_calls(index, 1));
  const auto ranks = [&] {
    std::string all;
    const std::vector<RankView> views =
        server->jobs.ranks("long", *server->jobs.diagnosis("long")).value();
    for (const RankView& rank : views) all += boost::json::serialize(to_json(rank)) + "\n";
    return all;
  };
  const std::string before = ranks();
  const std::uint64_t bytes = server->store.bytes_in_use();
  server->jobs.shorten_stored();
  EXPECT_LT(server->store.bytes_in_use(), bytes);
  std::size_t batches = 0;
  server->store.replay("long", [](std::string_view) {}, [&](const StoredBatch&) { ++batches; });
  EXPECT_EQ(batches, 4u) << "the first of each source, and the others as one";
  restart();
  EXPECT_EQ(ranks(), before);
  commit(nth_of_many_calls(12, 1));
  const std::string live = ranks();
  EXPECT_NE(live, before);
  restart();
  EXPECT_EQ(ranks(), live);
}

TEST_F(LongRunning, ForgetsAJobOfWhichNothingCameForLongButNotWhatWasFoundInIt) {
  const Timestamp now = utc_now();
  commit(loss_of_a_gpu("old", now - hours(50)));
  commit(loss_of_a_gpu("new", now - hours(1)));
  for (const char* job : {"old", "new"}) server->jobs.reconcile(job);
  Retention retention(server->store, server->jobs, server->metrics, {.jobs = hours(48)});
  retention.apply(steady_now());
  EXPECT_THAT(server->jobs.names(), ElementsAre("new"));
  EXPECT_THAT(server->store.sources("old"), IsEmpty());
  const FindingPage left = server->store.findings({.job = "old"});
  ASSERT_FALSE(left.findings.empty());
  EXPECT_EQ(left.findings[0].finding.state, FindingState::resolved);
  EXPECT_EQ(left.findings[0].reason, "job_ended");
  EXPECT_FALSE(left.findings[0].finding.evidence.empty());
  EXPECT_FALSE(server->store.findings_of_host("n7", 10).empty());
  restart();
  EXPECT_THAT(server->jobs.names(), ElementsAre("new"));
}

TEST_F(LongRunning, ForgetsSomeJobsSoonerOrNeverByTheFirstPatternThatFits) {
  const Timestamp now = utc_now();
  for (const char* job : {"nightly-1", "nightly-keep", "gold", "other"})
    commit(loss_of_a_gpu(job, now - hours(30)));
  const RetentionSettings some{.of_some = {{"*-keep", hours(0)}, {"nightly-*", hours(24)}}};
  Retention retention(server->store, server->jobs, server->metrics, some);
  retention.apply(steady_now());
  EXPECT_THAT(server->jobs.names(), ElementsAre("gold", "nightly-keep", "other"));
  retention.set(
      {.of_some = {{.jobs = "gold", .lines = 1}, {"gold", hours(48)}}, .jobs = hours(24)});
  retention.apply(steady_now());
  EXPECT_THAT(server->jobs.names(), ElementsAre("gold")) << "at once, by what was set";
}

TEST_F(LongRunning, ForgetsTheOldestJobsWhereMoreIsStoredThanMayBe) {
  const Timestamp now = utc_now();
  for (int age = 9; age >= 0; --age)
    commit(loss_of_a_gpu(fmt::format("job{}", age), now - hours(age) - std::chrono::minutes(1)));
  Retention retention(server->store, server->jobs, server->metrics,
                      {.of_some = {{"*7", hours(0)}, {"job8", hours(900)}}, .bytes = 1});
  retention.apply(steady_now());
  EXPECT_THAT(server->jobs.names(), ElementsAre("job0", "job7"))
      << "something came of one just now, and one is kept for ever";
}

TEST_F(LongRunning, ForgetsNoJobThatIsBeingSent) {
  commit(loss_of_a_gpu("old", utc_now() - hours(50)));
  const auto lease = server->jobs.open_sources().take("old", "kern.log", [] {});
  Retention retention(server->store, server->jobs, server->metrics,
                      {.jobs = hours(48), .bytes = 1});
  retention.apply(steady_now());
  EXPECT_THAT(server->jobs.names(), ElementsAre("old"));
}

TEST_F(LongRunning, ForgetsFindingsThatEndedLongAgo) {
  commit(loss_of_a_gpu("old", utc_now() - hours(50)));
  server->jobs.reconcile("old");
  server->jobs.forget("old");
  Retention retention(server->store, server->jobs, server->metrics,
                      {.findings = std::chrono::seconds(1)});
  retention.apply(steady_now());
  EXPECT_FALSE(server->store.findings({.job = "old"}).findings.empty());
  commit(loss_of_a_gpu("new", utc_now() - hours(1)));
  server->jobs.reconcile("new");
  EXPECT_GT(server->store.delete_findings_ended(utc_now() + hours(1)), 0u);
  EXPECT_THAT(server->store.findings({.job = "old"}).findings, IsEmpty());
  EXPECT_FALSE(server->store.findings({.job = "new"}).findings.empty()) << "its job is kept";
}

}  // namespace
}  // namespace faultline
