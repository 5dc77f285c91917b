#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "commits.h"
#include "store/sqlite.h"
#include "temporary_folder.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Store, IsEmptyAtFirst) {
  const TemporaryFolder folder;
  Store store(folder / "f.db");
  EXPECT_THAT(store.jobs(), IsEmpty());
  EXPECT_THAT(store.sources("llama"), IsEmpty());
  EXPECT_EQ(store.source("llama", "x"), std::nullopt);
  EXPECT_THAT(store.body_starts("llama", "x"), IsEmpty());
  EXPECT_THAT(replay_all(store), IsEmpty());
  EXPECT_THAT(store.findings({}).findings, IsEmpty());
  EXPECT_EQ(store.pending(), 0u);
}

TEST(Store, GivesBackAfterARestartWhatWasCommitted) {
  const TemporaryFolder folder;
  RandomBatches random(3);
  std::vector<Commit> commits;
  for (std::uint64_t i = 0; i < 200; ++i)
    commits.push_back(nth_commit(random, "source" + std::to_string(i % 3), i / 3));
  {
    Store store(folder / "f.db");
    for (const Commit& commit : commits) ASSERT_EQ(outcome(store, commit), "");
  }
  Store store(folder / "f.db");
  const auto stored = replay_all(store);
  ASSERT_EQ(stored.size(), commits.size());
  for (std::size_t i = 0; i < commits.size(); ++i) {
    SCOPED_TRACE(i);
    expect_stored(stored[i], commits[i]);
  }
}

TEST(Store, KnowsWhereEachSourceStands) {
  const TemporaryFolder folder;
  RandomBatches random(4);
  Store store(folder / "f.db");
  Commit first = nth_commit(random, "a", 0);
  Commit second = nth_commit(random, "a", 1);
  second.source.host = "";  // this time the sender gave none
  second.source.rank = -1;
  second.complete = true;
  Commit other = nth_commit(random, "b", 0);
  other.source.job = "another";
  for (const Commit& commit : {first, second, other}) ASSERT_EQ(outcome(store, commit), "");

  EXPECT_THAT(store.jobs(), ElementsAre(StoredJob{"another", other.received},
                                        StoredJob{"llama", second.received}));
  ASSERT_EQ(store.sources("llama").size(), 1u);
  const auto source = store.source("llama", "a");
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(source->source, first.source);
  EXPECT_EQ(source->position, second.position);
  EXPECT_EQ(source->recognized, first.batch.recognized + second.batch.recognized);
  EXPECT_EQ(source->facts, first.batch.facts() + second.batch.facts());
  EXPECT_TRUE(source->complete);
  EXPECT_EQ(source->last_received, second.received);
  EXPECT_EQ(replay_all(store)[1].source, second.source) << "as it was said with that batch";
}

TEST(Store, KeepsTheFingerprintsOfASourceInOrder) {
  const TemporaryFolder folder;
  RandomBatches random(5);
  Store store(folder / "f.db");
  std::vector<Fingerprint> expected;
  for (std::uint64_t i = 0; i < 200; ++i) {
    Commit commit = nth_commit(random, "a", i);
    commit.fingerprint.starts_body = i % 50 == 0;
    expected.push_back(commit.fingerprint);
    ASSERT_EQ(outcome(store, commit), "");
    ASSERT_EQ(outcome(store, nth_commit(random, "b", i)), "");
  }
  std::vector<HeldBlock> starts = store.body_starts("llama", "a");
  ASSERT_EQ(starts.size(), 4u);
  std::vector<Fingerprint> all{starts[0].print};
  std::int64_t last = starts[0].batch;
  for (auto window = store.blocks_after("llama", "a", last); !window.empty();
       window = store.blocks_after("llama", "a", last)) {
    EXPECT_LE(window.size(), 64u);
    for (const HeldBlock& block : window) all.push_back(block.print);
    last = window.back().batch;
  }
  EXPECT_EQ(all, expected);
  EXPECT_EQ(starts[3].print, expected[150]);
}

TEST(Store, KeepsWhatWaitsForMoreInFewBytes) {
  const TemporaryFolder folder;
  RandomBatches random(7);
  Store store(folder / "f.db");
  std::uint64_t index = 0;
  for (const std::size_t size : {0, 20, 4096, 4097, 5'000'000, 3}) {
    Commit commit = nth_commit(random, "a", index++);
    commit.position.carry = std::string(size, 'x');
    const SourcePosition expected = commit.position;
    ASSERT_EQ(outcome(store, std::move(commit)), "");
    EXPECT_EQ(store.source("llama", "a")->position, expected) << size;
    EXPECT_EQ(store.sources("llama").at(0).position.carry, "") << "a list has no need of it";
    Database database(folder / "f.db", Database::Access::read_only);
    EXPECT_LE(database.number("SELECT length(carry) FROM sources"), 4096);
  }
}

TEST(Store, TellsTheNumberedSourcesOfAName) {
  const TemporaryFolder folder;
  RandomBatches random(8);
  Store store(folder / "f.db");
  const std::vector<std::string> names = {"h/log",  "h/log#2", "h/log#10", "h/log#3x",
                                          "h/log#", "h/log2",  "h/lo",     "h/log$"};
  for (const std::string& name : names) {
    ASSERT_EQ(outcome(store, nth_commit(random, name, 0)), "");
    ASSERT_EQ(outcome(store, nth_commit(random, name, 1)), "");
  }
  ASSERT_EQ(outcome(store, nth_commit(random, "h/log#2", 2)), "");
  const std::vector<NumberedSource> numbered = store.numbered_sources("llama", "h/log");
  std::vector<std::string> told;
  for (const NumberedSource& source : numbered) {
    told.push_back(source.name);
    EXPECT_EQ(source.starts, store.body_starts("llama", source.name));
    EXPECT_EQ(source.starts.size(), source.name == "h/log#2" ? 2u : 1u);
  }
  EXPECT_THAT(told, testing::ElementsAre("h/log", "h/log#2", "h/log#10"));
  EXPECT_TRUE(store.numbered_sources("gpt", "h/log").empty());
}

TEST(Store, RefusesACommitThatDoesNotBeginWhereItsSourceStands) {
  const TemporaryFolder folder;
  RandomBatches random(6);
  Store store(folder / "f.db");
  EXPECT_EQ(outcome(store, nth_commit(random, "a", 1)),
            "source moved on: a of job llama stands at offset 0, not 100");
  EXPECT_EQ(store.source("llama", "a"), std::nullopt);

  ASSERT_EQ(outcome(store, nth_commit(random, "a", 0)), "");
  for (const std::uint64_t index : {0, 2}) {
    bool told = false;
    store.submit(nth_commit(random, "a", index),
                 [&](const std::shared_ptr<const Commit>&, std::exception_ptr failure) {
                   try {
                     std::rethrow_exception(failure);
                   } catch (const SourceMovedOn& error) {
                     told = error.stored_offset == 100;
                   }
                 });
    store.drain();
    EXPECT_TRUE(told) << index;
  }
  EXPECT_EQ(replay_all(store).size(), 1u);
  EXPECT_EQ(outcome(store, nth_commit(random, "a", 1)), "");
}

TEST(Store, TakesACommitWithoutBytes) {
  const TemporaryFolder folder;
  RandomBatches random(7);
  Store store(folder / "f.db");
  ASSERT_EQ(outcome(store, nth_commit(random, "a", 0)), "");
  Commit end = nth_commit(random, "a", 1);
  end.batch = {.from_offset = kStep, .to_offset = kStep};
  end.position.offset = kStep;
  end.complete = true;
  EXPECT_EQ(outcome(store, end), "");
  EXPECT_TRUE(store.source("llama", "a")->complete);
  EXPECT_EQ(store.source("llama", "a")->position.offset, kStep);
}

TEST(Store, SharesOneTransactionAmongAllThatWait) {
  const TemporaryFolder folder;
  RandomBatches random(8);
  Store store(folder / "f.db");
  std::promise<void> busy;
  std::promise<void> all_wait;
  store.submit(nth_commit(random, "a", 0),
               [&](const std::shared_ptr<const Commit>&, std::exception_ptr) {
                 busy.set_value();
                 all_wait.get_future().wait();
               });
  busy.get_future().wait();
  std::vector<std::uint64_t> order;
  for (std::uint64_t i = 1; i <= 300; ++i)
    store.submit(nth_commit(random, "a", i),
                 [&](const std::shared_ptr<const Commit>& commit, std::exception_ptr failure) {
                   EXPECT_FALSE(failure);
                   order.push_back(commit->batch.from_offset / kStep);
                 });
  EXPECT_EQ(store.pending(), 301u);
  all_wait.set_value();
  store.drain();
  EXPECT_EQ(store.pending(), 0u);
  EXPECT_EQ(store.transactions(), 2u);
  ASSERT_EQ(order.size(), 300u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(Store, DoesEverythingSubmittedBeforeItEnds) {
  const TemporaryFolder folder;
  RandomBatches random(9);
  int done = 0;
  {
    Store store(folder / "f.db");
    for (std::uint64_t i = 0; i < 100; ++i)
      store.submit(nth_commit(random, "a", i),
                   [&](const std::shared_ptr<const Commit>&, std::exception_ptr failure) {
                     if (!failure) ++done;
                   });
  }
  EXPECT_EQ(done, 100);
  Store store(folder / "f.db");
  EXPECT_EQ(replay_all(store).size(), 100u);
}

TEST(Store, IsSharedByThreads) {
  const TemporaryFolder folder;
  Store store(folder / "f.db");
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&store, t] {
      RandomBatches random(t);
      const std::string source = "source" + std::to_string(t);
      for (std::uint64_t i = 0; i < 25; ++i) {
        store.submit(nth_commit(random, source, i),
                     [](const std::shared_ptr<const Commit>&, std::exception_ptr failure) {
                       EXPECT_FALSE(failure);
                     });
        store.source("llama", source);
        store.sources("llama");
        store.reconcile_findings("llama", 1, {{.id = source}}, kNoon);
        store.findings({});
        store.replay("llama", expect_no_calls, [](const StoredBatch&) {});
      }
    });
  for (std::thread& thread : threads) thread.join();
  store.drain();
  EXPECT_EQ(replay_all(store).size(), 100u);
}

TEST(Store, MayBeUsedWhileItReplays) {
  const TemporaryFolder folder;
  RandomBatches random(10);
  Store store(folder / "f.db");
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(outcome(store, nth_commit(random, "a", i)), "");
  std::uint64_t seen = 0;
  store.replay("llama", expect_no_calls, [&](const StoredBatch& stored) {
    EXPECT_EQ(outcome(store, nth_commit(random, "a", 3 + seen)), "");
    EXPECT_EQ(store.source("llama", stored.source.name)->position.offset, (4 + seen) * kStep);
    ++seen;
  });
  EXPECT_EQ(seen, 3u) << "what is committed meanwhile is not waited for";
}

TEST(Store, ProbesByWriting) {
  const TemporaryFolder folder;
  Store store(folder / "f.db");
  const std::uint64_t before = store.transactions();
  store.probe();
  EXPECT_EQ(store.transactions(), before + 1);
  EXPECT_GT(store.bytes_on_disk(), 0u);
}

TEST(Store, RefusesABatchThatIsTooLargeAtOnce) {
  const TemporaryFolder folder;
  Store store(folder / "f.db");
  Commit commit;
  commit.batch.runs.resize(1);
  commit.batch.runs[0].calls.resize((1 << 22) + 1);
  EXPECT_THROW(store.submit(std::move(commit), nullptr), StoreError);
  EXPECT_EQ(store.pending(), 0u);
}

}  // namespace
}  // namespace faultline
