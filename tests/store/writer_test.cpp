#include "store/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <future>
#include <vector>

#include "temporary_folder.h"

namespace faultline {
namespace {

using testing::ElementsAre;

class WriterTest : public testing::Test {
 protected:
  WriterTest() : database(folder / "w.db", Database::Access::read_write) {
    database.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (number INTEGER UNIQUE, text)");
  }

  Writer::Deed insert(int number, std::size_t bytes = 10) {
    return {
        .write =
            [=](Database& db) {
              db.run("INSERT INTO t VALUES (?, ?)", number, std::string(bytes, 'x'));
            },
        .done = [=,
                 this](std::exception_ptr failure) { (failure ? failed : done).push_back(number); },
        .bytes = bytes};
  }

  std::vector<std::int64_t> numbers() {
    std::vector<std::int64_t> numbers;
    Query row = database.query("SELECT number FROM t ORDER BY number");
    while (row.next()) numbers.push_back(row.integer(0));
    return numbers;
  }

  TemporaryFolder folder;
  Database database;
  std::vector<int> done;
  std::vector<int> failed;
};

// Blocks the writer until it is released, so that later submissions wait.
class Obstacle {
 public:
  explicit Obstacle(Writer& writer) {
    writer.submit({.write =
                       [this](Database&) {
                         reached_.set_value();
                         released_.get_future().wait();
                       },
                   .done = [](std::exception_ptr) {}});
    reached_.get_future().wait();
  }
  void remove() { released_.set_value(); }

 private:
  std::promise<void> reached_;
  std::promise<void> released_;
};

TEST_F(WriterTest, LetsARefusedDeedHurtNobodyElse) {
  Writer writer(database);
  Obstacle obstacle(writer);
  for (const int number : {1, 2, 1, 3}) writer.submit(insert(number));
  obstacle.remove();
  writer.drain();
  EXPECT_THAT(done, ElementsAre(1, 2, 3));
  EXPECT_THAT(failed, ElementsAre(1));
  EXPECT_EQ(writer.transactions(), 2u);
  EXPECT_THAT(numbers(), ElementsAre(1, 2, 3));
}

TEST_F(WriterTest, UndoesAllOfADeedThatFailsHalfWay) {
  Writer writer(database);
  Writer::Deed deed = insert(1);
  deed.write = [](Database& db) {
    db.run("INSERT INTO t VALUES (1, '')");
    db.run("INSERT INTO t VALUES (2, '')");
    throw StoreError("changed my mind");
  };
  writer.submit(deed);
  writer.submit(insert(2));
  writer.drain();
  EXPECT_THAT(failed, ElementsAre(1));
  EXPECT_THAT(numbers(), ElementsAre(2));
}

TEST_F(WriterTest, LetsJobsTakeTurnsAndKeepsTheOrderOfEach) {
  Writer writer(database);
  Obstacle obstacle(writer);
  const auto submit = [&](int number, std::string job) {
    Writer::Deed deed = insert(number, Writer::kMaxGroupBytes / 2);
    deed.job = std::move(job);
    writer.submit(std::move(deed));
  };
  for (const int number : {1, 2, 3, 4, 5}) submit(number, "large");
  submit(6, "small");
  submit(7, "");
  obstacle.remove();
  writer.drain();
  EXPECT_THAT(done, ElementsAre(1, 6, 7, 2, 3, 4, 5));
  EXPECT_EQ(writer.pending(), 0u);
}

TEST_F(WriterTest, ClosesATransactionThatHoldsEnough) {
  Writer writer(database);
  Obstacle obstacle(writer);
  for (int number = 1; number <= 6; ++number)
    writer.submit(insert(number, Writer::kMaxGroupBytes / 2));
  obstacle.remove();
  writer.drain();
  EXPECT_THAT(done, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(writer.transactions(), 4u) << "the obstacle's, and three of two";
}

// Without memory SQLite cannot undo a single part either; then nothing of the transaction is kept.
TEST_F(WriterTest, CommitsNothingOfATransactionInWhichAPartCouldNotBeUndone) {
  Writer writer(database);
  Obstacle obstacle(writer);
  Writer::Deed deed = insert(2);
  deed.write = [](Database& db) {
    db.run("INSERT INTO t VALUES (2, '')");
    sqlite3_hard_heap_limit64(1);
    throw StoreError("no memory");
  };
  writer.submit(insert(1));
  writer.submit(deed);
  obstacle.remove();
  writer.drain();
  sqlite3_hard_heap_limit64(0);
  EXPECT_THAT(failed, ElementsAre(1, 2));
  writer.submit(insert(3));
  writer.drain();
  EXPECT_THAT(done, ElementsAre(3));
  EXPECT_THAT(numbers(), ElementsAre(3));
}

TEST_F(WriterTest, TellsEveryWaiterThatTheDiskIsFullAndGoesOnWhenItIsNot) {
  // SQLite's own limit fails as a full disk does.
  const std::int64_t pages = database.number("PRAGMA page_count");
  database.execute("PRAGMA max_page_count = " + std::to_string(pages + 3));
  Writer writer(database);
  Obstacle obstacle(writer);
  for (const int number : {1, 2, 3}) writer.submit(insert(number, 100'000));
  obstacle.remove();
  writer.drain();
  EXPECT_THAT(failed, ElementsAre(1, 2, 3));

  writer.submit({.write = [](Database& db) { db.execute("PRAGMA max_page_count = 100000"); },
                 .done = [](std::exception_ptr failure) { EXPECT_FALSE(failure); }});
  for (const int number : {1, 2, 3}) writer.submit(insert(number, 100'000));
  writer.drain();
  EXPECT_THAT(done, ElementsAre(1, 2, 3));
  EXPECT_THAT(numbers(), ElementsAre(1, 2, 3));
}

TEST_F(WriterTest, FoldsTheLogAwayWhenNothingComes) {
  const auto log = folder / "w.db-wal";
  database.run("INSERT INTO t VALUES (0, ?)", std::string(100'000, 'x'));
  ASSERT_GT(std::filesystem::file_size(log), 100'000u);
  Writer writer(database);
  // This may take any time; the timeout of ctest ends the test if it never happens.
  while (std::filesystem::file_size(log) > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

}  // namespace
}  // namespace faultline
