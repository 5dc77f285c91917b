// A checker that sees nothing would let every round pass.
#include "faults/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>

#include "faults/life.h"
#include "workshop.h"

namespace faultline::faults {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

void execute(const fs::path& file, const std::string& sql) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(handle);
  sqlite3_close(handle);
}

// A server that has received logs and has no fault.
class Checker : public testing::Test {
 protected:
  void SetUp() override {
    Random random(1);
    Verdict verdict;
    ASSERT_TRUE(life.start(verdict));
    // A slow machine needs longer for as much.
    for (int round = 0; round < 50 && verdict.acknowledged <= 10; ++round)
      life.load_for(std::chrono::milliseconds(200), random, verdict);
    life.go_on_and_check(verdict);
    ASSERT_THAT(verdict.failures, IsEmpty());
    ASSERT_GT(verdict.acknowledged, 10u);
  }

  Workshop workshop;
  Life life{Programs{.server = FAULTLINE_BINARY}, workshop.folder() / "life"};
};

TEST_F(Checker, SeesWhateverIsNotAsItWasAcknowledged) {
  ASSERT_EQ(life.server().stop(), 0);

  struct Case {
    const char* why;
    const char* sql;
    const char* said;
  };
  const Case cases[] = {
      {"a fact is gone", "DELETE FROM events WHERE rowid = 1", "LOST: 1 facts"},
      {"a fact is there twice",
       "INSERT INTO events SELECT batch, place + 1000, line, offset, wall, uncertainty, "
       "zone_assumed, uptime, speaker, host, pid, device, rank, kind, fact, text FROM events "
       "WHERE rowid = 1",
       "TWICE"},
      {"a line reads otherwise", "UPDATE events SET text = text || 'x' WHERE rowid = 1",
       "is another one"},
      {"a batch is gone",
       "DELETE FROM events WHERE batch = (SELECT max(id) FROM batches);"
       "DELETE FROM batches WHERE id >= (SELECT max(id) FROM batches WHERE to_offset > "
       "from_offset)",
       "its batches end at"},
      {"a batch is of other bytes", "UPDATE batches SET digest = digest + 1 WHERE id = 1",
       "are not those that were sent"},
      {"batches overlap", "UPDATE batches SET from_offset = from_offset + 1 WHERE id = 1",
       "the one before ended at"},
      {"a source was set back", "UPDATE sources SET read_to = read_to - 1 WHERE id = 1", "LOST: "},
      {"lines are counted twice", "UPDATE sources SET lines = lines * 2 WHERE id = 1",
       "they should be"},
      {"a source was forgotten", "UPDATE sources SET name = 'another' WHERE id = 1",
       "and 0 are held"},
      {"a fact belongs to no batch", "UPDATE events SET batch = 100000 WHERE rowid = 1",
       "belong to nothing"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    const fs::path copy = workshop.folder() / "copy.db";
    fs::copy_file(life.server().database(), copy, fs::copy_options::overwrite_existing);
    ASSERT_THAT(check_database(life.ledger(), copy, Stage::after_rest), IsEmpty());
    execute(copy, c.sql);
    EXPECT_THAT(check_database(life.ledger(), copy, Stage::after_rest),
                Contains(HasSubstr(c.said)));
  }
}

// The checker compares sent lines with shown ones, so changing the sent ones has the same effect as
// changing the shown ones.
TEST_F(Checker, SeesLinesThatAreNotShownAsTheyWereSent) {
  Ledger other = life.ledger();
  for (SentSource& source : other.sources) std::ranges::replace(source.text, '7', '8');
  EXPECT_THAT(check(other, life.server().database(), life.server().port(), Stage::after_rest),
              Contains(HasSubstr("is shown as")));
}

}  // namespace
}  // namespace faultline::faults
