// The calls of a job are replaced by their sums.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "commits.h"
#include "store/prints.h"
#include "store/sqlite.h"
#include "temporary_folder.h"

namespace faultline {
namespace {

constexpr std::string_view kCameTo = "what they came to";

// Batches of calls of one source; every `eventful`-th one holds an event as well.
Commit nth_of_calls(RandomBatches& random, const std::string& source, std::uint64_t index,
                    std::uint64_t eventful = 0) {
  Commit commit = nth_commit(random, source, index);
  commit.batch.lines = 7;
  commit.batch.left_out = 0;
  commit.batch.dialects = {{"nccl", 7}};
  commit.batch.speakers = {{.host = "n1", .pid = 7}};
  commit.batch.signatures = {{.function = "AllReduce", .count = 5}};
  commit.batch.events.clear();
  const Timestamp from = kNoon + std::chrono::seconds(index);
  commit.batch.runs = {{.communicator = 1,
                        .nranks = 2,
                        .calls = {{.op_count = 7 * index}},
                        .first_time = EventTime::at(from),
                        .last_time = EventTime::at(from + std::chrono::milliseconds(1)),
                        .last_text = "the last line"}};
  if (eventful != 0 && index % eventful == 1)
    commit.batch.events = {{.order = 1, .line = 7 * index, .fact = HostBooted{}, .text = "boot"}};
  return commit;
}

struct Told {
  std::vector<std::string> calls;
  std::vector<StoredBatch> batches;
};

Told told_by(Store& store) {
  Told told;
  EXPECT_TRUE(store
                  .replay(
                      "llama", [&](std::string_view packed) { told.calls.emplace_back(packed); },
                      [&](const StoredBatch& stored) { told.batches.push_back(stored); })
                  .empty());
  return told;
}

std::vector<Fingerprint> prints_of(Store& store, const std::string& source) {
  std::vector<Fingerprint> prints;
  std::int64_t last = 0;
  for (auto window = store.blocks_after("llama", source, last); !window.empty();
       window = store.blocks_after("llama", source, last)) {
    for (const HeldBlock& block : window) prints.push_back(block.print);
    last = window.back().batch;
  }
  return prints;
}

class KeptCalls : public testing::Test {
 protected:
  void commit(const std::string& source, std::uint64_t from, std::uint64_t to,
              std::uint64_t eventful = 0) {
    for (std::uint64_t index = from; index < to; ++index) {
      Commit made = nth_of_calls(random, source, index, eventful);
      prints[source].push_back(made.fingerprint);
      ASSERT_EQ(outcome(store, std::move(made)), "");
    }
  }

  void keep_all() {
    const Told told = told_by(store);
    store.keep_calls("llama", told.batches.back().number, kCameTo);
  }

  const TemporaryFolder folder;
  RandomBatches random{1};
  Store store{folder / "f.db"};
  std::map<std::string, std::vector<Fingerprint>> prints;
};

TEST_F(KeptCalls, AreToldBeforeTheBatchesThatTheyCount) {
  commit("a", 0, 3);
  keep_all();
  commit("a", 3, 4);
  const Told told = told_by(store);
  EXPECT_THAT(told.calls, testing::ElementsAre(kCameTo));
  ASSERT_EQ(told.batches.size(), 4u) << "nothing is dropped yet";
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(told.batches[i].calls_are_kept, i < 3);
}

TEST_F(KeptCalls, BatchesWithoutEventsBecomeOneButTheFirstOfASource) {
  for (std::uint64_t i = 0; i < 400; i += 50) {
    commit("a", i, i + 50);
    commit("b", i, i + 50);
  }
  keep_all();
  store.drop_kept_calls("llama");
  commit("a", 400, 403);
  const Told told = told_by(store);
  ASSERT_EQ(told.batches.size(), 7u);
  std::uint64_t lines = 0;
  for (const StoredBatch& stored : told.batches) lines += stored.batch.lines;
  EXPECT_EQ(lines, 803u * 7);
  const Batch& others = told.batches[3].batch;
  ASSERT_EQ(others.runs.size(), 1u) << "when the calls came is still known";
  EXPECT_TRUE(others.runs[0].calls.empty());
  EXPECT_EQ(others.runs[0].first_time.wall(), kNoon + std::chrono::seconds(1));
  EXPECT_EQ(others.runs[0].last_time.wall(),
            kNoon + std::chrono::seconds(399) + std::chrono::milliseconds(1));
  EXPECT_EQ(others.speakers.size(), 1u);
  EXPECT_TRUE(others.signatures.empty());
  EXPECT_EQ(told.batches[3].received, kNoon + std::chrono::seconds(399));
  EXPECT_EQ(told.batches[0].received, kNoon);
  EXPECT_EQ(told.batches[4].batch.runs[0].calls.size(), 1u) << "not kept, not dropped";
}

TEST_F(KeptCalls, EventsStayWhereTheyAre) {
  commit("a", 0, 100, 10);
  keep_all();
  store.drop_kept_calls("llama");
  const Told told = told_by(store);
  std::vector<std::uint64_t> lines;
  for (const StoredBatch& stored : told.batches)
    for (const Event& event : stored.batch.events) lines.push_back(event.line);
  EXPECT_THAT(lines, testing::ElementsAre(7, 77, 147, 217, 287, 357, 427, 497, 567, 637));
  EXPECT_EQ(told.batches.size(), 21u) << "the first, ten with events, ten between and behind";
}

TEST_F(KeptCalls, WhatWasSentIsKnownAgainByEveryFingerprint) {
  commit("a", 0, 300, 40);
  const std::vector<HeldBlock> starts = store.body_starts("llama", "a");
  for (int times = 0; times < 3; ++times) {
    keep_all();
    store.drop_kept_calls("llama");
    EXPECT_EQ(prints_of(store, "a"), prints["a"]);
    EXPECT_EQ(store.body_starts("llama", "a"), starts);
  }
  commit("a", 300, 302);
  EXPECT_EQ(prints_of(store, "a"), prints["a"]);
}

TEST_F(KeptCalls, LaterOnesJoinThoseBefore) {
  for (std::uint64_t i = 0; i < 1500; i += 100) {
    commit("a", i, i + 100);
    keep_all();
    store.drop_kept_calls("llama");
  }
  EXPECT_LE(told_by(store).batches.size(), 3u);
  EXPECT_EQ(prints_of(store, "a"), prints["a"]);
}

std::vector<EventsOfBatch> events_of(const Told& told) {
  std::vector<EventsOfBatch> events;
  for (const StoredBatch& stored : told.batches)
    for (const Event& event : stored.batch.events)
      events.push_back({.batch = stored.number, .places = {event.order}});
  return events;
}

TEST_F(KeptCalls, BatchesThatLoseTheirEventsLaterAreJoinedToTheirNeighbours) {
  commit("a", 0, 100, 10);
  keep_all();
  store.drop_kept_calls("llama");
  std::vector<EventsOfBatch> events = events_of(told_by(store));
  ASSERT_EQ(events.size(), 10u);
  events.pop_back();
  store.drop_events(events);
  // The power may fail here.
  EXPECT_THAT(store.jobs_with_kept_calls_to_drop(), testing::ElementsAre("llama"));
  store.drop_kept_calls("llama");
  EXPECT_THAT(store.jobs_with_kept_calls_to_drop(), testing::IsEmpty());
  const Told told = told_by(store);
  ASSERT_EQ(told.batches.size(), 4u) << "the first, one with an event, one before and one behind";
  EXPECT_EQ(told.batches[2].batch.events.size(), 1u);
  std::uint64_t lines = 0;
  std::uint64_t recognized = 0;
  for (const StoredBatch& stored : told.batches) {
    EXPECT_TRUE(stored.calls_are_kept);
    lines += stored.batch.lines;
    recognized += stored.batch.recognized;
  }
  EXPECT_EQ(lines, 700u);
  EXPECT_EQ(recognized, 4950u);
  EXPECT_EQ(prints_of(store, "a"), prints["a"]);
}

// The batches of a source, by how many lines of other kinds they have.
std::vector<std::uint64_t> lines_of_steps(const Told& told) {
  std::vector<std::uint64_t> lines;
  for (const StoredBatch& stored : told.batches) {
    const auto found = stored.batch.dialects.find("training");
    lines.push_back(found == stored.batch.dialects.end() ? 0 : found->second);
  }
  return lines;
}

// A reanalysis brings their events back together.
TEST_F(KeptCalls, BatchesWhoseLinesGaveManyEventsAreNotJoined) {
  for (std::uint64_t index = 0; index < 40; ++index) {
    Commit made = nth_of_calls(random, "a", index);
    if (index % 2 == 1) made.batch.dialects["training"] = index == 21 ? 5000 : 1000;
    ASSERT_EQ(outcome(store, std::move(made)), "");
  }
  keep_all();
  store.drop_kept_calls("llama");
  EXPECT_THAT(lines_of_steps(told_by(store)),
              testing::ElementsAre(0, 4000, 4000, 2000, 5000, 4000, 4000, 1000));
}

TEST_F(KeptCalls, BatchesOfWhichEventsWereLeftOutAreJoinedToNoOthers) {
  for (std::uint64_t index = 0; index < 10; ++index) {
    Commit made = nth_of_calls(random, "a", index);
    if (index == 5 || index == 6) made.batch.left_out = 3;
    ASSERT_EQ(outcome(store, std::move(made)), "");
  }
  keep_all();
  store.drop_kept_calls("llama");
  std::vector<std::uint64_t> left_out;
  for (const StoredBatch& stored : told_by(store).batches)
    left_out.push_back(stored.batch.left_out);
  EXPECT_THAT(left_out, testing::ElementsAre(0, 0, 6, 0));
}

TEST_F(KeptCalls, WhateverEventsGoWhateverIsDoneEveryFingerprintStays) {
  std::map<std::string, std::uint64_t> next;
  for (int round = 0; round < 20; ++round) {
    for (const char* source : {"a", "b"}) {
      const std::uint64_t from = next[source];
      next[source] = from + 1 + random.number(200);
      commit(source, from, next[source], 1 + random.number(20));
    }
    std::vector<EventsOfBatch> events = events_of(told_by(store));
    std::erase_if(events, [&](const EventsOfBatch&) { return random.chance(30); });
    store.drop_events(events);
    if (random.chance(50)) keep_all();
    if (random.chance(70)) store.drop_kept_calls("llama");
    for (const char* source : {"a", "b"})
      ASSERT_EQ(prints_of(store, source), prints[source]) << "round " << round;
  }
  keep_all();
  store.drop_events(events_of(told_by(store)));
  store.drop_kept_calls("llama");
  EXPECT_LE(told_by(store).batches.size(), 2 * (2 + next["a"] / 512));
}

TEST_F(KeptCalls, EventsOfAJobThatIsNotWantedAnyMoreStay) {
  commit("a", 0, 10, 2);
  const std::vector<EventsOfBatch> events = events_of(told_by(store));
  ASSERT_FALSE(events.empty());
  store.drop_events(events, [] { return false; });
  EXPECT_EQ(events_of(told_by(store)).size(), events.size());
  store.drop_events(events);
  EXPECT_TRUE(events_of(told_by(store)).empty());
}

TEST_F(KeptCalls, GoWithTheirJob) {
  commit("a", 0, 3);
  keep_all();
  EXPECT_TRUE(store.delete_job("llama", kNoon));
  commit("a", 0, 2);
  const Told told = told_by(store);
  EXPECT_TRUE(told.calls.empty());
  EXPECT_EQ(told.batches.size(), 2u);
}

TEST_F(KeptCalls, AreMissedWhereTheyAreDamaged) {
  commit("a", 0, 3);
  keep_all();
  {
    Database database(folder / "f.db", Database::Access::read_write);
    database.execute("UPDATE kept_calls SET content = x'00'");
  }
  const auto damaged = store.replay("llama", expect_no_calls, [](const StoredBatch& stored) {
    EXPECT_TRUE(stored.calls_are_kept);
  });
  ASSERT_EQ(damaged.size(), 1u);
  EXPECT_EQ(damaged[0].how, "their stored result has no sensible size");
}

TEST(Prints, AreReadAsTheyWereWritten) {
  RandomBatches random(3);
  std::vector<HeldBlock> blocks;
  for (std::int64_t i = 0; i < 50; ++i) {
    const std::uint64_t from = random.any();
    blocks.push_back({.batch = 3 * i + 1,
                      .print = {from, from + random.number(1000), random.any(), random.any(),
                                random.chance(50)}});
  }
  const std::string bytes = write_prints(blocks);
  EXPECT_EQ(read_prints(bytes), blocks);
  EXPECT_THROW(read_prints(bytes + "x"), BadBytes);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut)
    EXPECT_THROW(read_prints(bytes.substr(0, cut)), BadBytes);
}

}  // namespace
}  // namespace faultline
