// A job that prints the same kinds of lines for days: what is stored of it stays small, and so do
// its answers.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <boost/json.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "committed.h"
#include "model/json.h"
#include "rules/knowledge/live_catalog.h"
#include "service/live_jobs.h"
#include "workshop.h"

namespace faultline {
namespace {

constexpr Timestamp kNoonOfSteps =
    Timestamp(std::chrono::hours(24 * 20'000 + 12));  // the job is over
constexpr int kRanks = 4;
constexpr std::uint64_t kStepsOfBatch = 25;

class LongSteps : public testing::Test {
 protected:
  struct Running {
    explicit Running(const std::filesystem::path& file)
        : store(file),
          jobs(store, catalog, metrics,
               {.shorten_after = 200'000, .limits = {.events = 3000, .processes = 100}}) {
      jobs.start(stop);
    }

    Store store;
    LiveCatalog catalog{load_catalog()};
    Metrics metrics;
    std::atomic<bool> stop{false};
    LiveJobs jobs;
  };

  LongSteps() { restart(); }

  void restart() {
    server.reset();
    server = std::make_unique<Running>(workshop.folder() / "f.db");
  }

  // The next steps of a rank.
  void commit(int rank) {
    const std::uint64_t before = kStepsOfBatch * batches_sent[rank]++;
    commit(fmt::format("rank{}.log", rank), rank, before, before, kStepsOfBatch);
  }

  // One step a line, after so many lines of the source and so many steps.
  void commit(const std::string& source, int rank, std::uint64_t lines_before,
              std::uint64_t steps_before, std::uint64_t lines) {
    Commit commit{.source = {.job = "long", .name = source, .host = "n1"},
                  .received = kNoonOfSteps + std::chrono::seconds(steps_before)};
    Batch& batch = commit.batch;
    batch.from_offset = 100 * lines_before;
    batch.to_offset = commit.position.offset = batch.from_offset + 100 * lines;
    batch.first_line = 1 + lines_before;
    batch.lines = batch.recognized = lines;
    batch.dialects = {{"training", lines}};
    batch.speakers = {{.host = "n1"}};
    for (std::uint32_t i = 0; i < lines; ++i) {
      const std::uint64_t line = batch.first_line + i;
      const std::uint64_t step = steps_before + i + 1;
      batch.events.push_back(
          {.order = i,
           .line = line,
           .offset = 100 * (line - 1),
           .time = EventTime::at(kNoonOfSteps + std::chrono::seconds(step)),
           .fact = PartReport{.tool = "megatron",
                              .kind = "training",
                              .names = {{"rank", std::to_string(rank)}},
                              .values = {{"step", std::to_string(step)},
                                         {"of", "1000000"},
                                         {"lines", std::to_string(step)},
                                         {"loss", fmt::format("2.{}", step / 7 % 3)}}},
           .text = fmt::format("iteration {}/1000000", step)});
    }
    commit.fingerprint = {batch.from_offset, batch.to_offset, steps_before, steps_before,
                          lines_before == 0};
    EXPECT_FALSE(committed(server->jobs, std::move(commit)));
  }

  void send(int rounds, bool shorten) {
    for (int round = 0; round < rounds; ++round) {
      for (int rank = 0; rank < kRanks; ++rank) commit(rank);
      if (shorten) server->jobs.shorten_stored();
    }
  }

  struct Held {
    std::size_t batches = 0;
    std::size_t events = 0;
    std::uint64_t lines = 0;
    std::uint64_t left_out = 0;
  };
  Held held() {
    Held held;
    server->store.replay(
        "long", [](std::string_view) {},
        [&](const StoredBatch& stored) {
          ++held.batches;
          held.events += stored.batch.events.size();
          held.lines += stored.batch.lines;
          held.left_out += stored.batch.left_out;
        });
    return held;
  }

  bool was_never_shortened() const {
    Exposition out(MetricsFormat::prometheus);
    server->metrics.write(out);
    return out.take().find("\nfaultline_store_shortened_total 0\n") != std::string::npos;
  }

  std::string answer() {
    const auto diagnosis = server->jobs.diagnosis("long");
    return boost::json::serialize(to_json(*diagnosis)) +
           boost::json::serialize(to_json(server->jobs.detail("long").value()));
  }

  Workshop workshop;
  std::unique_ptr<Running> server;
  std::uint64_t batches_sent[kRanks] = {};
};

// 20,000 lines, where a job may have 3,000 events.
TEST_F(LongSteps, LeaveSoFewEventsAndBatchesThatTheLimitIsNeverReached) {
  send(50, true);
  const Held early = held();
  send(150, true);
  const Held late = held();
  EXPECT_EQ(late.lines, 200 * kRanks * kStepsOfBatch);
  EXPECT_EQ(late.left_out, 0u);
  EXPECT_LE(late.events, early.events + 300) << "it does not grow with the age of the job";
  EXPECT_LE(late.events, 600u);
  EXPECT_LE(late.batches, early.batches + 20);
  EXPECT_LE(late.batches, 120u);
}

TEST_F(LongSteps, ThatAreNotShortenedReachTheLimit) {
  send(40, false);
  EXPECT_GT(held().left_out, 0u);
}

TEST_F(LongSteps, OfWhichMostAreDroppedGiveTheSameAnswerLiveAndAfterARestart) {
  send(14, false);
  const std::string before = answer();
  const std::uint64_t bytes = server->store.bytes_in_use();
  server->jobs.shorten_stored();
  EXPECT_LT(server->store.bytes_in_use(), bytes / 2);
  EXPECT_EQ(answer(), before);
  restart();
  EXPECT_EQ(answer(), before);
  send(10, true);
  const std::string live = answer();
  EXPECT_NE(live, before);
  restart();
  EXPECT_EQ(answer(), live);
}

// The first and the last time of a source are needed.
TEST_F(LongSteps, WithASourceForEachStayAndNothingIsWrittenForThem) {
  constexpr std::uint64_t kSamples = 900;  // so many that a pass over them is made
  for (std::uint64_t i = 0; i < kSamples; ++i) commit(fmt::format("sample{}.log", i), 0, 0, i, 1);
  const std::uint64_t written = server->store.transactions();
  for (int i = 0; i < 3; ++i) server->jobs.shorten_stored();
  EXPECT_EQ(server->store.transactions(), written);
  EXPECT_EQ(held().events, kSamples);
  EXPECT_TRUE(was_never_shortened());
}

TEST_F(LongSteps, OfOneBatchAreDroppedInSeveralWrites) {
  commit("rank0.log", 0, 0, 0, 2500);
  const std::string before = answer();
  const std::uint64_t written = server->store.transactions();
  server->jobs.shorten_stored();
  EXPECT_GE(server->store.transactions(), written + 3);
  EXPECT_LT(held().events, 100u);
  EXPECT_EQ(held().lines, 2500u);
  EXPECT_FALSE(was_never_shortened());
  EXPECT_EQ(answer(), before);
  restart();
  EXPECT_EQ(answer(), before);
}

TEST_F(LongSteps, AreLeftToTheNextServerByOneThatEnds) {
  send(14, false);
  ASSERT_FALSE(answer().empty());
  const std::size_t events = held().events;
  server->stop = true;
  EXPECT_NO_THROW(server->jobs.shorten_stored());
  EXPECT_EQ(held().events, events);
  restart();
  ASSERT_FALSE(answer().empty());
  server->jobs.shorten_stored();
  EXPECT_LT(held().events, events / 2);
}

TEST_F(LongSteps, AreDroppedAgainAndAgainOnlyWhenThereAreAsManyAsStay) {
  send(20, false);
  server->jobs.shorten_stored();
  const std::uint64_t written = server->store.transactions();
  for (int i = 0; i < 5; ++i) server->jobs.shorten_stored();
  EXPECT_EQ(server->store.transactions(), written);
  restart();
  ASSERT_FALSE(answer().empty());
  const std::uint64_t started = server->store.transactions();
  server->jobs.shorten_stored();
  EXPECT_EQ(server->store.transactions(), started);
}

}  // namespace
}  // namespace faultline
