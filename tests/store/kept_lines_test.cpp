// Lines that are kept beside the batches that were read from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "commits.h"
#include "store/sqlite.h"
#include "temporary_folder.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class KeptLinesOfStore : public testing::Test {
 protected:
  // The next commit of the source; it keeps these lines.
  void commit(const std::string& source, std::string lines, bool keeps = true) {
    Commit commit = nth_commit(random, source, counts[source]++);
    commit.batch.lines = 7;
    commit.keeps_lines = keeps;
    commit.kept_lines = std::move(lines);
    EXPECT_EQ(outcome(*store, std::move(commit)), "");
  }

  // Each row is "CONTENT OFFSET+LINES", with "anew" if it does not follow the row before, or "batch
  // to OFFSET".
  std::vector<std::string> told(const std::string& source) {
    std::vector<std::string> told;
    store->walk_kept_lines(
        "llama", source,
        [&](const KeptLines& kept) {
          told.push_back(fmt::format("{} {}+{}{}", kept.content, kept.from_offset,
                                     kept.lines_before, kept.follows ? "" : " anew"));
        },
        [&](const StoredBatch& stored) {
          told.push_back(fmt::format("batch to {}", stored.batch.to_offset));
        });
    return told;
  }

  std::int64_t number(const std::string& sql) {
    return Database(folder / "f.db", Database::Access::read_only).number(sql);
  }

  TemporaryFolder folder;
  RandomBatches random{1};
  std::map<std::string, std::uint64_t> counts;
  std::unique_ptr<Store> store = std::make_unique<Store>(folder / "f.db");
};

TEST_F(KeptLinesOfStore, ComeBackInOrderEachBeforeItsBatch) {
  commit("a", "one");
  commit("b", "other");
  commit("a", "two");
  EXPECT_THAT(told("a"), ElementsAre("one 0+0", "batch to 100", "two 100+7", "batch to 200"));
}

TEST_F(KeptLinesOfStore, FollowEachOtherAcrossBatchesOfCallsButNotAcrossWhatWasNotKept) {
  commit("a", "one");
  commit("a", "");  // only calls
  commit("a", "two");
  commit("a", "", false);
  commit("a", "");
  commit("a", "three");
  EXPECT_THAT(told("a"), ElementsAre("one 0+0", "batch to 100", "two 200+14", "batch to 300",
                                     "three 500+35 anew", "batch to 600"));
}

TEST_F(KeptLinesOfStore, AreFoundByLineWithTheRowInWhichALineMayHaveBegun) {
  for (const char* lines : {"one", "two", "three", "four"}) commit("a", lines);
  const auto found = [&](const std::string& source, const LineRange& wanted) {
    std::vector<std::string> contents;
    store->visit_kept_lines("llama", source, wanted,
                            [&](const KeptLines& kept) { contents.push_back(kept.content); });
    return contents;
  };
  EXPECT_THAT(found("a", {.first = 15, .line = 15, .last = 16}), ElementsAre("two", "three"));
  EXPECT_THAT(found("a", {.first = 9, .line = 15, .last = 23}),
              ElementsAre("two", "three", "four"));
  EXPECT_THAT(found("a", {.first = 8, .line = 8, .last = 8}), ElementsAre("one", "two"));
  EXPECT_THAT(found("nobody", {}), IsEmpty());
}

TEST_F(KeptLinesOfStore, OfAJobWithALimitOfItsOwnFollowThatOne) {
  for (int i = 0; i < 8; ++i) commit("a", random.bytes(10'000));
  const auto kept = [&] { return number("SELECT count(*) FROM kept_lines"); };
  store->drop_old_lines(0, [](std::string_view job) { return job == "llama" ? 1U << 20 : 0U; });
  EXPECT_EQ(kept(), 8);
  store->drop_old_lines(0, [](std::string_view job) { return job == "llama" ? 0U : 1U << 20; });
  EXPECT_EQ(kept(), 0);
}

TEST_F(KeptLinesOfStore, OverTheLimitGoOldestFirstAcrossTheSourcesOfAJob) {
  for (int i = 0; i < 40; ++i) commit(i % 2 == 0 ? "a" : "b", random.bytes(10'000));
  const std::int64_t all = number("SELECT sum(kept_bytes) FROM sources");
  const auto keep_at_most = [&](std::uint64_t bytes) {
    store->drop_old_lines(bytes, [&](std::string_view) { return bytes; });
  };
  keep_at_most(static_cast<std::uint64_t>(all));
  EXPECT_EQ(number("SELECT count(*) FROM kept_lines"), 40);
  keep_at_most(static_cast<std::uint64_t>(all / 2));
  EXPECT_LE(number("SELECT sum(kept_bytes) FROM sources"), all / 2);
  EXPECT_GE(number("SELECT sum(kept_bytes) FROM sources"), all / 4);
  const std::int64_t left = number("SELECT count(*) FROM kept_lines");
  EXPECT_EQ(number("SELECT min(batch) FROM kept_lines"), 41 - left);
  EXPECT_EQ(number("SELECT sum(kept_bytes) FROM sources"),
            number("SELECT sum(length(content) + 64) FROM kept_lines"));
  // What is left can be read, and all batches are there.
  EXPECT_EQ(told("a").size() + told("b").size(), 2 * static_cast<std::size_t>(left));
  EXPECT_EQ(replay_all(*store).size(), 40U);
  keep_at_most(0);
  EXPECT_EQ(number("SELECT count(*) FROM kept_lines"), 0);
}

TEST_F(KeptLinesOfStore, GoWithTheirJob) {
  commit("a", "one");
  EXPECT_TRUE(store->delete_job("llama", kNoon));
  EXPECT_EQ(number("SELECT count(*) FROM kept_lines"), 0);
}

TEST_F(KeptLinesOfStore, ThatAreDamagedAreLeftOutAndChangeNoAnswer) {
  commit("a", "one");
  commit("a", "two");
  store.reset();
  Database(folder / "f.db", Database::Access::read_write)
      .execute("UPDATE kept_lines SET content = x'00' WHERE batch = 1");
  store = std::make_unique<Store>(folder / "f.db");
  EXPECT_THAT(told("a"), ElementsAre("two 100+7 anew", "batch to 200"));
  EXPECT_EQ(replay_all(*store).size(), 2U);
}

TEST_F(KeptLinesOfStore, ReadAgainReplaceWhatTheirBatchTellsAndWhatIsCountedOfTheSource) {
  commit("a", "one");
  commit("a", "two");
  const std::vector<StoredBatch> before = replay_all(*store);
  ChangedBatch changed{.number = 2, .batch = before[1].batch, .more_recognized = 3};
  changed.more_facts = 1 - static_cast<std::int64_t>(changed.batch.events.size());
  changed.batch.events = {{.order = 0, .line = 9, .fact = HostBooted{}, .text = "boot"}};
  const StoredSource source = *store->source("llama", "a");
  store->replace_batches({changed}, [] { return false; });
  EXPECT_EQ(replay_all(*store)[1].batch, before[1].batch);
  store->replace_batches({changed});
  const std::vector<StoredBatch> after = replay_all(*store);
  EXPECT_EQ(after[0].batch, before[0].batch);
  EXPECT_EQ(after[1].batch, changed.batch);
  EXPECT_EQ(store->source("llama", "a")->recognized, source.recognized + 3);
  EXPECT_EQ(store->source("llama", "a")->facts,
            source.facts + static_cast<std::uint64_t>(changed.more_facts));
  store->replace_batches({{.number = 77}});  // this batch is gone
  EXPECT_EQ(replay_all(*store).size(), 2U);
}

}  // namespace
}  // namespace faultline
