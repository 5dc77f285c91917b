#include "store/open.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commits.h"
#include "store/migrations.h"
#include "temporary_folder.h"

namespace faultline {
namespace {

// What the store says against a file; "" if it opens.
std::string refusal(const std::filesystem::path& file) {
  try {
    Store store(file);
    return "";
  } catch (const StoreError& error) {
    return error.what();
  }
}

void fill(const std::filesystem::path& file) {
  RandomBatches random(1);
  Store store(file);
  for (std::uint64_t i = 0; i < 300; ++i)
    store.submit(nth_commit(random, "a", i),
                 [](const std::shared_ptr<const Commit>&, std::exception_ptr failure) {
                   ASSERT_FALSE(failure);
                 });
}

TEST(OpeningTheStore, CreatesTheFileAndTheLastFolder) {
  const TemporaryFolder folder;
  EXPECT_EQ(refusal(folder / "data" / "f.db"), "");
  EXPECT_TRUE(std::filesystem::exists(folder / "data" / "f.db"));
}

TEST(OpeningTheStore, BringsAnEmptyFileToTheNewestSchema) {
  const TemporaryFolder folder;
  write_file(folder / "f.db", "");
  EXPECT_EQ(refusal(folder / "f.db"), "");
  Database database(folder / "f.db", Database::Access::read_only);
  EXPECT_EQ(database.number("PRAGMA user_version"), static_cast<std::int64_t>(migrations().size()));
  EXPECT_EQ(database.number("PRAGMA application_id"), 0x464C544C);
}

TEST(OpeningTheStore, DoesNotCreateAWholePath) {
  const TemporaryFolder folder;
  EXPECT_EQ(refusal(folder / "a" / "b" / "f.db"),
            fmt::format("{0}/a/b/f.db: its folder {0}/a/b does not exist; create it or choose "
                        "another data folder",
                        folder.path().string()));
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
}

TEST(OpeningTheStore, RefusesAFolderInPlaceOfTheFile) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "f.db");
  EXPECT_EQ(refusal(folder / "f.db"),
            (folder / "f.db").string() +
                ": cannot be opened for writing; mend its permissions or choose another data "
                "folder");
}

TEST(OpeningTheStore, RefusesWhatIsNotADatabase) {
  const TemporaryFolder folder;
  const std::string message =
      ": is not a Faultline database; move it away or choose another data folder";
  write_file(folder / "long", std::string(100'000, 'x'));
  write_file(folder / "short", "hello");
  EXPECT_EQ(refusal(folder / "long"), (folder / "long").string() + message);
  EXPECT_EQ(refusal(folder / "short"), (folder / "short").string() + message);
  EXPECT_EQ(read_file(folder / "short"), "hello") << "it must stay as it is";
}

TEST(OpeningTheStore, RefusesTheDatabaseOfAnotherProgram) {
  const TemporaryFolder folder;
  Database(folder / "f.db", Database::Access::read_write).execute("CREATE TABLE cookies (a)");
  const std::string before = read_file(folder / "f.db");
  EXPECT_EQ(refusal(folder / "f.db"),
            (folder / "f.db").string() +
                ": is not a Faultline database; move it away or choose another data folder");
  EXPECT_EQ(read_file(folder / "f.db"), before) << "it must stay as it is";
}

TEST(OpeningTheStore, RefusesTheDatabaseOfANewerVersion) {
  const TemporaryFolder folder;
  fill(folder / "f.db");
  Database(folder / "f.db", Database::Access::read_write).execute("PRAGMA user_version = 999");
  EXPECT_EQ(refusal(folder / "f.db"),
            fmt::format("{}: was written by a newer Faultline (schema 999, this program knows {}); "
                        "install that version or choose another data folder",
                        (folder / "f.db").string(), migrations().size()));
}

TEST(OpeningTheStore, RefusesAFileThatWasCutOff) {
  const TemporaryFolder folder;
  fill(folder / "f.db");
  const auto size = std::filesystem::file_size(folder / "f.db");
  ASSERT_GT(size, 100'000u);
  for (const auto left : {size - 4096, size / 2, std::uintmax_t{4096}, std::uintmax_t{100}}) {
    SCOPED_TRACE(left);
    std::filesystem::resize_file(folder / "f.db", left);
    const std::string said = refusal(folder / "f.db");
    EXPECT_THAT(said, testing::StartsWith((folder / "f.db").string() + ": is damaged ("));
    EXPECT_THAT(said, testing::EndsWith(
                          "); restore it from a backup, or move it away and send the logs again"));
    EXPECT_THAT(said, testing::Not(testing::HasSubstr("\n")));
  }
}

TEST(OpeningTheStore, RefusesAFileWithADamagedPage) {
  const TemporaryFolder folder;
  fill(folder / "f.db");
  std::string bytes = read_file(folder / "f.db");
  // Every page but the first, so that some are of the kind that is checked.
  for (std::size_t at = 4096; at < bytes.size(); at += 4096) bytes.replace(at, 64, 64, '\x5a');
  write_file(folder / "f.db", bytes);
  EXPECT_THAT(refusal(folder / "f.db"),
              testing::StartsWith((folder / "f.db").string() + ": is damaged ("));
}

// The file with one page overwritten: the root of a table or index.
void damage_root_of(const std::filesystem::path& file, const std::string& name) {
  std::int64_t page = 0;
  {
    Database database(file, Database::Access::read_only);
    page = database.number("SELECT rootpage FROM sqlite_schema WHERE name = '" + name + "'");
  }
  std::string bytes = read_file(file);
  bytes.replace(static_cast<std::size_t>(page - 1) * 4096, 64, 64, '\x5a');
  write_file(file, bytes);
}

TEST(OpeningTheStore, ChecksTheSmallTablesOfALargeFileAndLeavesItsBatchesToTheReplay) {
  const TemporaryFolder folder;
  constexpr std::uint64_t kNothingIsSmall = 0;
  fill(folder / "f.db");
  EXPECT_NO_THROW(open_for_writing(folder / "f.db", kNothingIsSmall));
  damage_root_of(folder / "f.db", "batches");
  EXPECT_NO_THROW(open_for_writing(folder / "f.db", kNothingIsSmall));
  damage_root_of(folder / "f.db", "sources");
  EXPECT_THROW(open_for_writing(folder / "f.db", kNothingIsSmall), StoreError);
}

TEST(OpeningTheStore, TellsADamagedBatchWhenItReplays) {
  const TemporaryFolder folder;
  fill(folder / "f.db");
  Database(folder / "f.db", Database::Access::read_write)
      .execute("UPDATE batches SET content = substr(content, 1, 20) WHERE id = 7");
  Store store(folder / "f.db");
  try {
    replay_all(store);
    FAIL() << "the damage went unnoticed";
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("is damaged (batch 7: stored batch "));
  }
}

TEST(OpeningTheStore, RefusesAFileThatIsOpenAlready) {
  const TemporaryFolder folder;
  {
    Store first(folder / "f.db");
    EXPECT_EQ(refusal(folder / "f.db"),
              (folder / "f.db").string() +
                  ": is in use by another Faultline process; stop that one or choose another data "
                  "folder");
  }
  EXPECT_EQ(refusal(folder / "f.db"), "") << "free again";
}

TEST(OpeningTheStore, MakesEveryCommitDurableAndKeepsReferences) {
  const TemporaryFolder folder;
  const auto database = open_for_writing(folder / "f.db");
  EXPECT_EQ(database->number("PRAGMA synchronous"), 2);
  EXPECT_EQ(database->number("PRAGMA foreign_keys"), 1);
  EXPECT_THROW(database->run("INSERT INTO events (batch, place, line, offset, uncertainty, "
                             "zone_assumed, speaker, kind, fact, text) "
                             "VALUES (12, 0, 0, 0, 0, 0, 0, '', '', '')"),
               SqliteError);
}

TEST(OpeningTheStore, LetsReadersReadWhileATransactionIsOpen) {
  const TemporaryFolder folder;
  const auto writing = open_for_writing(folder / "f.db");
  const auto reading = open_for_reading(folder / "f.db");
  Transaction transaction(*writing);
  writing->run("UPDATE probe SET count = 5");
  EXPECT_EQ(reading->number("SELECT count FROM probe"), 0);
  transaction.commit();
  EXPECT_EQ(reading->number("SELECT count FROM probe"), 5);
  EXPECT_THROW(reading->run("UPDATE probe SET count = 6"), SqliteError);
}

TEST(Migrations, RunEachStepOnce) {
  const TemporaryFolder folder;
  Database database(folder / "f.db", Database::Access::read_write);
  const std::vector<Migration> one = {{"0001_first.sql", "CREATE TABLE a (x);"}};
  const std::vector<Migration> two = {one[0], {"0002_second.sql", "ALTER TABLE a ADD COLUMN y;"}};
  migrate(database, one);
  database.run("INSERT INTO a VALUES (1)");
  migrate(database, two);
  migrate(database, two);
  EXPECT_EQ(database.number("PRAGMA user_version"), 2);
  EXPECT_EQ(database.number("SELECT count(*) FROM a WHERE x = 1 AND y IS NULL"), 1);
}

TEST(Migrations, LeaveTheDatabaseAsItWasWhenAStepFails) {
  const TemporaryFolder folder;
  Database database(folder / "f.db", Database::Access::read_write);
  EXPECT_THROW(migrate(database, {{"0001_first.sql", "CREATE TABLE a (x); CREATE TABLE a (x);"}}),
               SqliteError);
  EXPECT_EQ(database.number("PRAGMA user_version"), 0);
  EXPECT_EQ(database.number("SELECT count(*) FROM sqlite_schema"), 0);
}

}  // namespace
}  // namespace faultline
