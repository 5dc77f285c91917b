#include "store/open.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <random>

#include "commits.h"
#include "store/batch_codec.h"
#include "store/batches.h"
#include "store/log_check.h"
#include "store/migrations.h"
#include "temporary_folder.h"

namespace faultline {
namespace {

// The error with which the store refuses the file; "" if it opens.
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
                ": cannot be opened for writing; fix its permissions or choose another data "
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
  // All pages except the first, so that some are of the kind that is checked.
  for (std::size_t at = 4096; at < bytes.size(); at += 4096) bytes.replace(at, 64, 64, '\x5a');
  write_file(folder / "f.db", bytes);
  EXPECT_THAT(refusal(folder / "f.db"),
              testing::StartsWith((folder / "f.db").string() + ": is damaged ("));
}

// Overwrites the root page of a table or index in the file.
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

TEST(OpeningTheStore, TellsWhoseBatchIsDamagedWhenItReplays) {
  const TemporaryFolder folder;
  fill(folder / "f.db");
  Database(folder / "f.db", Database::Access::read_write)
      .execute("UPDATE batches SET content = substr(content, 1, 20) WHERE id = 7");
  Store store(folder / "f.db");
  std::size_t visited = 0;
  const auto damaged =
      store.replay("llama", expect_no_calls, [&](const StoredBatch&) { ++visited; });
  ASSERT_EQ(damaged.size(), 1u);
  EXPECT_EQ(damaged[0].name, "a");
  EXPECT_THAT(damaged[0].how, testing::HasSubstr("is damaged (batch 7: stored batch "));
  EXPECT_EQ(visited, 299u);
}

// A last line without an end makes a batch of its own, which covers no bytes: no gap shows its
// loss.
TEST(OpeningTheStore, TellsOfADamagedBatchThatCoversNoBytes) {
  for (const char* damage : {"UPDATE batches SET content = substr(content, 1, 20) WHERE id = 13",
                             "UPDATE events SET fact = '{' WHERE batch = 13"}) {
    const TemporaryFolder folder;
    {
      RandomBatches random(1);
      Store store(folder / "f.db");
      for (std::uint64_t i = 0; i < 12; ++i)
        ASSERT_EQ(outcome(store, nth_commit(random, "a", i)), "");
      Commit last = nth_commit(random, "a", 12);
      while (last.batch.events.empty()) last.batch.events = random.batch().events;
      last.batch.to_offset = last.batch.from_offset;
      last.position.offset = last.batch.to_offset;
      last.fingerprint.to_offset = last.batch.to_offset;
      ASSERT_EQ(outcome(store, std::move(last)), "");
    }
    Database(folder / "f.db", Database::Access::read_write).execute(damage);
    Store store(folder / "f.db");
    std::size_t visited = 0;
    const auto damaged =
        store.replay("llama", expect_no_calls, [&](const StoredBatch&) { ++visited; });
    EXPECT_EQ(visited, 12u);
    ASSERT_EQ(damaged.size(), 1u) << damage;
    EXPECT_EQ(damaged[0].name, "a");
    EXPECT_THAT(damaged[0].how, testing::HasSubstr("is damaged (batch 13: "));
  }
}

TEST(OpeningTheStore, TellsWhoseBatchIsMissingWhenItReplays) {
  for (const int id : {1, 7, 300}) {
    const TemporaryFolder folder;
    fill(folder / "f.db");
    Database(folder / "f.db", Database::Access::read_write)
        .execute(fmt::format("DELETE FROM batches WHERE id = {}", id));
    Store store(folder / "f.db");
    const auto damaged = store.replay("llama", expect_no_calls, [](const StoredBatch&) {});
    ASSERT_EQ(damaged.size(), 1u) << id;
    EXPECT_EQ(damaged[0].how, "a batch of it is missing");
  }
}

std::string flipped(std::string bytes, std::size_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
  return bytes;
}

// The error that a start finds, or what it replays if it finds none.
std::string found_at_start(const std::filesystem::path& file) {
  std::string replayed;
  try {
    Store store(file);
    const auto damaged = store.replay("llama", expect_no_calls, [&](const StoredBatch& stored) {
      replayed += fmt::format("{} {} {}\n", stored.source.name, encode_batch(stored.batch),
                              stored.received.time_since_epoch().count());
      for (const Event& event : stored.batch.events) replayed += event.text + "\n";
    });
    if (!damaged.empty()) return damaged.front().how;
    for (const StoredSource& source : store.sources("llama"))
      replayed += fmt::format("{} {} {}\n", source.source.name, source.position.offset,
                              source.position.carry);
  } catch (const StoreError& error) {
    return error.what();
  }
  return replayed;
}

TEST(OpeningTheStore, NoBitOfTheDatabaseChangesUnnoticed) {
  const TemporaryFolder folder;
  fill(folder / "f.db");
  const std::string sound = found_at_start(folder / "f.db");
  const std::string bytes = read_file(folder / "f.db");
  std::mt19937 random(7);
  int noticed = 0;
  for (int i = 0; i < 120; ++i) {
    // The header is small; half of the flips are in it.
    const std::size_t bit = random() % ((i % 2 == 0 ? std::size_t{100} : bytes.size()) * 8);
    SCOPED_TRACE(bit);
    for (const char* part : {"f.db-wal", "f.db-shm"}) std::filesystem::remove(folder / part);
    write_file(folder / "f.db", flipped(bytes, bit));
    const std::string found = found_at_start(folder / "f.db");
    if (found == sound) continue;  // in a page that is not read
    ++noticed;
    EXPECT_TRUE(found.find("is damaged") != std::string::npos ||
                found.find("is not a Faultline database") != std::string::npos ||
                found.find("was written by a newer Faultline") != std::string::npos)
        << found.substr(0, 300);
  }
  EXPECT_GT(noticed, 90);
}

// The write-ahead log as it is while the service runs, or after it was killed.
void fill_log(const std::filesystem::path& folder, const std::filesystem::path& into) {
  RandomBatches random(1);
  Store store(folder / "f.db");
  for (std::uint64_t i = 0; i < 12; ++i) ASSERT_EQ(outcome(store, nth_commit(random, "a", i)), "");
  for (const char* part : {"f.db", "f.db-wal"})
    std::filesystem::copy_file(folder / part, into / part,
                               std::filesystem::copy_options::overwrite_existing);
}

TEST(LogCheck, ADamagedFrameIsNotTakenForTheEnd) {
  const TemporaryFolder running;
  const TemporaryFolder folder;
  fill_log(running.path(), folder.path());
  const std::string log = read_file(folder / "f.db-wal");
  ASSERT_GT(log.size(), 20u * 4120);
  EXPECT_FALSE(is_more_behind_the_end_of_log(folder / "f.db"));
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    const std::size_t bit = random() % (log.size() * 3 / 4 * 8);
    SCOPED_TRACE(bit);
    write_file(folder / "f.db-wal", flipped(log, bit));
    EXPECT_TRUE(is_more_behind_the_end_of_log(folder / "f.db"));
  }
}

TEST(LogCheck, ALogThatTheCrashToreHasNothingBehindItsEnd) {
  const TemporaryFolder running;
  const TemporaryFolder folder;
  fill_log(running.path(), folder.path());
  const std::string log = read_file(folder / "f.db-wal");
  for (std::size_t bytes = 0; bytes <= log.size(); bytes += 1111) {
    SCOPED_TRACE(bytes);
    write_file(folder / "f.db-wal", log.substr(0, bytes));
    EXPECT_FALSE(is_more_behind_the_end_of_log(folder / "f.db"));
  }
}

TEST(OpeningTheStore, KeepsItsFilesForTheirOwner) {
  const TemporaryFolder folder;
  Store store(folder / "f.db");
  RandomBatches random(1);
  ASSERT_EQ(outcome(store, nth_commit(random, "a", 0)), "");
  for (const char* part : {"f.db", "f.db-wal", "f.db-shm"})
    EXPECT_EQ(std::filesystem::status(folder / part).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write)
        << part;
}

TEST(OpeningTheStore, TakesNothingOnceItsFilesAreGone) {
  for (const char* gone : {"data", "data/f.db", "data/f.db-wal"}) {
    SCOPED_TRACE(gone);
    const TemporaryFolder folder;
    RandomBatches random(1);
    Store store(folder / "data" / "f.db");
    ASSERT_EQ(outcome(store, nth_commit(random, "a", 0)), "");
    std::filesystem::rename(folder / gone, folder / "elsewhere");
    EXPECT_THAT(outcome(store, nth_commit(random, "a", 1)),
                testing::HasSubstr("f.db: was removed or replaced while it was in use"));
    EXPECT_THROW(store.probe(), StoreError);
    std::filesystem::rename(folder / "elsewhere", folder / gone);
    EXPECT_EQ(outcome(store, nth_commit(random, "a", 1)), "");
    EXPECT_NO_THROW(store.probe());
  }
}

TEST(OpeningTheStore, ASecondServerThatFindsItsFileGoneDoesNotLetTheFirstGoOn) {
  const TemporaryFolder folder;
  RandomBatches random(1);
  Store first(folder / "f.db");
  ASSERT_EQ(outcome(first, nth_commit(random, "a", 0)), "");
  for (const char* part : {"f.db", "f.db-wal", "f.db-shm"}) std::filesystem::remove(folder / part);
  Store second(folder / "f.db");
  EXPECT_NE(outcome(first, nth_commit(random, "a", 1)), "");
  EXPECT_EQ(outcome(second, nth_commit(random, "b", 0)), "");
}

TEST(OpeningTheStore, TakesNoLogsWithoutRoomAndGoesOnWithTheRest) {
  const TemporaryFolder folder;
  RandomBatches random(1);
  Store store(folder / "f.db");
  ASSERT_EQ(outcome(store, nth_commit(random, "a", 0)), "");
  store.set_least_room(std::uint64_t{1} << 60U);
  EXPECT_THAT(outcome(store, nth_commit(random, "a", 1)),
              testing::HasSubstr("MB are free on this disk"));
  EXPECT_THROW(store.probe(), StoreFull);
  store.reconcile_findings("llama", 1, {}, kNoon);
  store.set_least_room(0);
  EXPECT_EQ(outcome(store, nth_commit(random, "a", 1)), "");
}

TEST(OpeningTheStore, ForgetsAJobWholeAndKeepsTheOthers) {
  const TemporaryFolder folder;
  fill(folder / "f.db");
  RandomBatches random(2);
  {
    Store store(folder / "f.db");
    Commit other = nth_commit(random, "a", 0);
    other.source.job = "other";
    ASSERT_EQ(outcome(store, other), "");
    EXPECT_TRUE(store.delete_job("llama", kNoon));
    EXPECT_FALSE(store.delete_job("llama", kNoon));
    ASSERT_EQ(store.jobs().size(), 1u);
    EXPECT_EQ(store.jobs()[0].name, "other");
    EXPECT_EQ(outcome(store, nth_commit(random, "a", 0)), "") << "as if it had never been";
  }
  Store store(folder / "f.db");
  EXPECT_EQ(replay_all(store, "llama").size(), 1u);
  EXPECT_EQ(replay_all(store, "other").size(), 1u);
  Database database(folder / "f.db", Database::Access::read_only);
  EXPECT_EQ(database.number("SELECT count(DISTINCT batch) FROM events"), 2);
}

TEST(OpeningTheStore, ADeletionThatAKillBrokeOffIsEndedLater) {
  const TemporaryFolder folder;
  fill(folder / "f.db");
  {
    const auto database = open_for_writing(folder / "f.db");
    ASSERT_TRUE(forget_sources(*database, "llama"));
    ASSERT_TRUE(delete_some_batches(*database));
  }
  Store store(folder / "f.db");
  EXPECT_TRUE(store.jobs().empty());
  EXPECT_TRUE(store.replay("llama", expect_no_calls, [](const StoredBatch&) { FAIL(); }).empty());
  store.finish_deleting();
  Database database(folder / "f.db", Database::Access::read_only);
  EXPECT_EQ(database.number("SELECT count(*) FROM batches"), 0);
  EXPECT_EQ(database.number("SELECT count(*) FROM sources"), 0);
}

TEST(OpeningTheStore, AJobWithADamagedPageIsDeletedAsFarAsItCanBe) {
  const TemporaryFolder folder;
  fill(folder / "f.db");
  std::string content;
  {
    Database database(folder / "f.db", Database::Access::read_only);
    Query row = database.query(
        "SELECT content FROM batches WHERE id > 100 ORDER BY length(content) DESC LIMIT 1");
    ASSERT_TRUE(row.next());
    content = row.text(0);
  }
  std::string bytes = read_file(folder / "f.db");
  const std::size_t at = bytes.find(content.substr(0, 200));
  ASSERT_NE(at, std::string::npos);
  bytes[at + 100] ^= 4;
  write_file(folder / "f.db", bytes);
  for (int start = 0; start < 2; ++start) {
    Store store(folder / "f.db");
    if (start == 0)
      EXPECT_TRUE(store.delete_job("llama", kNoon));
    else
      EXPECT_NO_THROW(store.finish_deleting());
    EXPECT_TRUE(store.jobs().empty());
    Database database(folder / "f.db", Database::Access::read_only);
    EXPECT_THAT(database.number("SELECT count(*) FROM sources"), 1);
    EXPECT_LT(database.number("SELECT count(id) FROM batches INDEXED BY batches_by_source"), 40)
        << "only those of the damaged page are left";
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

// A file as an earlier release left it: with its schema, and without checksums of pages.
void make_with_schema(const std::filesystem::path& file, std::size_t version) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  std::string script = "PRAGMA journal_mode = WAL;";
  for (std::size_t i = 0; i < version; ++i) script += migrations()[i].text;
  script += fmt::format("PRAGMA user_version = {};", version);
  script +=
      "INSERT INTO sources (job, name, host, rank, read_to, lines, carry, recognized, facts, "
      "complete, last_received) VALUES ('old', 's', 'n1', 3, 0, 7, x'', 5, 4, 0, 1000);"
      "INSERT INTO findings (job, attempt, id, cause, severity, opened, changed, body) VALUES "
      "('old', 1, 'f1', 'gpu.off_bus', 3, 1000, 1000, "
      "'{\"id\":\"f1\",\"class\":\"gpu.off_bus\",\"subject\":{\"hosts\":[\"n1\"]}}');";
  char* complaint = nullptr;
  EXPECT_EQ(sqlite3_exec(database, script.c_str(), nullptr, nullptr, &complaint), SQLITE_OK)
      << version << ": " << (complaint == nullptr ? "" : complaint);
  sqlite3_free(complaint);
  sqlite3_close(database);
}

TEST(OpeningTheStore, OpensTheDatabasesOfAllEarlierSchemas) {
  for (std::size_t version = 1; version <= migrations().size(); ++version) {
    SCOPED_TRACE(version);
    const TemporaryFolder folder;
    make_with_schema(folder / "f.db", version);
    Store store(folder / "f.db");
    EXPECT_TRUE(store.replay("llama", expect_no_calls, [](const StoredBatch&) {}).empty());
    const auto source = store.source("old", "s");
    ASSERT_TRUE(source.has_value());
    EXPECT_EQ(source->position.lines, 7u);
    EXPECT_EQ(source->source.rank, 3);
    EXPECT_EQ(store.finding_tallies().size(), 1u);
    RandomBatches random(1);
    EXPECT_EQ(outcome(store, nth_commit(random, "a", 0)), "");
  }
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
