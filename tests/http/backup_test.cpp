// A backup of a busy server and how it is restored, with the real program.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "curl.h"
#include "store/backup.h"
#include "store/migrations.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Backup : public testing::Test {
 protected:
  // These return the output of the command; exit_ is its status.
  std::string back_up(const std::string& data, const std::string& copy) {
    return output_of(fmt::format("'{}' backup --data '{}' '{}' 2>&1", FAULTLINE_BINARY, data, copy),
                     &exit_);
  }
  std::string restore(const std::string& copy, const std::string& data,
                      const std::string& flags = "") {
    return output_of(
        fmt::format("'{}' restore '{}' --data '{}' {} 2>&1", FAULTLINE_BINARY, copy, data, flags),
        &exit_);
  }
  std::string path(const std::string& name) const { return (workshop_.folder() / name).string(); }

  Workshop workshop_;
  int exit_ = -1;
};

std::string log_of(int lines) {
  std::string log;
  for (int i = 0; i < lines; ++i)
    log += fmt::format("node-7:4242:4250 [3] NCCL INFO a line of many, number {}\n", i);
  return log +
         "node-7:4242:4250 [3] NCCL WARN Cuda failure 'an illegal memory access was encountered'\n";
}

// All that a reader can ask of a job, and of its findings with their reviews.
std::vector<std::string> answers(const ServerProcess& server, const std::string& job,
                                 const std::string& source) {
  const std::string of_job = "/api/v1/jobs/" + job;
  std::vector<std::string> all;
  for (const std::string& path :
       {of_job + "/diagnosis?explain=1", of_job + "/findings", of_job + "/timeline",
        of_job + "/lines?around=20&line=200&source=" + source, "/api/v1/sources?job=" + job}) {
    const Reply reply = plain_get(server, path);
    EXPECT_EQ(reply.status, 200) << path << ": " << reply.body;
    all.push_back(reply.body);
  }
  const boost::json::object findings = plain_get(server, of_job + "/findings").json();
  for (const auto& finding : findings.at("findings").as_array())
    all.push_back(
        plain_get(server, "/api/v1/findings/" + std::string(finding.at("finding").as_string()))
            .body);
  return all;
}

void review_findings_of(const ServerProcess& server, const std::string& job) {
  const auto findings = plain_get(server, "/api/v1/findings?job=" + job).json();
  ASSERT_FALSE(findings.at("findings").as_array().empty());
  for (const auto& finding : findings.at("findings").as_array())
    EXPECT_EQ(curl(server,
                   "/api/v1/findings/" + std::string(finding.at("finding").as_string()) + "/review",
                   "-H 'Content-Type: application/json' --data-binary "
                   "'{\"verdict\":\"acknowledged\",\"by\":\"ada\",\"note\":\"I look at it\"}'")
                  .status,
              200);
}

TEST_F(Backup, HoldsAllThatWasAcknowledgedBeforeItAndAnswersTheSame) {
  workshop_.write("rank3.log", log_of(500));
  fs::create_directories(workshop_.folder() / "first");
  ServerProcess server(workshop_.folder() / "first", {"--stall-after", "0s"});
  ASSERT_EQ(curl(server, "/api/v1/ingest?job=llama&source=rank3.log&final=true",
                 "-T " + path("rank3.log"))
                .status,
            200);
  review_findings_of(server, "llama");
  const std::vector<std::string> of_llama = answers(server, "llama", "rank3.log");
  EXPECT_THAT(of_llama.back(), HasSubstr("I look at it"));
  std::atomic<int> sent = 0;
  // Stops when the test ends, however it ends.
  std::jthread sender([&](const std::stop_token& done) {
    while (!done.stop_requested()) {
      const Reply reply =
          curl(server, fmt::format("/api/v1/ingest?job=busy&source=part-{}", sent.load()),
               "-T " + path("rank3.log"));
      if (reply.status == 200) ++sent;
    }
  });
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(eventually([&] { return sent >= 5 * (i + 1); }));
    const int before = sent;
    const std::string copy = path(fmt::format("copy-{}.db", i));
    const std::string said = back_up(path("first/data"), copy);
    ASSERT_EQ(exit_, 0) << said;
    EXPECT_THAT(said, HasSubstr("2 jobs"));
    EXPECT_EQ(fs::status(copy).permissions(), fs::perms::owner_read | fs::perms::owner_write);

    const std::string folder = path(fmt::format("restored-{}", i));
    fs::create_directories(folder);
    EXPECT_THAT(restore(copy, folder + "/data"), HasSubstr("2 jobs"));
    ASSERT_EQ(exit_, 0);
    ServerProcess restored(folder, {"--stall-after", "0s"});
    const std::string held = plain_get(restored, "/api/v1/sources?job=busy").body;
    for (int part = 0; part < before; ++part)
      EXPECT_THAT(held, HasSubstr(fmt::format("\"part-{}\"", part))) << before << " answered";
    EXPECT_EQ(answers(restored, "llama", "rank3.log"), of_llama);
  }

  // Now the busy job stands still, so both servers can be asked of the same moment.
  sender.request_stop();
  sender.join();
  review_findings_of(server, "busy");
  const std::vector<std::string> of_busy = answers(server, "busy", "part-7");
  ASSERT_THAT(back_up(path("first/data"), path("last.db")), HasSubstr("2 jobs"));
  fs::create_directories(path("last"));
  restore(path("last.db"), path("last/data"));
  ServerProcess restored(path("last"), {"--stall-after", "0s"});
  EXPECT_EQ(answers(restored, "busy", "part-7"), of_busy);
  EXPECT_EQ(answers(restored, "llama", "rank3.log"), of_llama);
  EXPECT_EQ(plain_get(server, "/healthz").status, 200);
}

TEST_F(Backup, WhatCannotBeDoneIsSaidInALineAndLeavesNothing) {
  EXPECT_THAT(back_up(path("nowhere"), path("copy.db")), HasSubstr("there is no such database"));
  EXPECT_EQ(exit_, 2);
  {
    ServerProcess server(workshop_.folder());
    EXPECT_EQ(curl(server, "/api/v1/ingest?job=llama&source=a", "-d 'NCCL INFO x'").status, 200);
  }
  workshop_.write("there.db", "mine");
  EXPECT_THAT(back_up(path("data"), path("there.db")), HasSubstr("already exists"));
  EXPECT_EQ(read_file(path("there.db")), "mine");
  EXPECT_THAT(back_up(path("data"), path("absent/copy.db")), HasSubstr("cannot be made"));
  EXPECT_EQ(exit_, 2);
  EXPECT_THAT(back_up(path("data"), path("copy.db")), HasSubstr("1 jobs"));
  for (const auto& entry : fs::directory_iterator(workshop_.folder()))
    EXPECT_THAT(entry.path().filename().string(), testing::Not(HasSubstr("unfinished")));
}

TEST_F(Backup, ADamagedDatabaseIsNotCopied) {
  workshop_.write("rank3.log", log_of(20000));
  {
    ServerProcess server(workshop_.folder());
    for (int i = 0; i < 20; ++i)
      ASSERT_EQ(curl(server, fmt::format("/api/v1/ingest?job=llama&source=r{}", i),
                     "-T " + path("rank3.log"))
                    .status,
                200);
    server.ask_to_stop();
    EXPECT_EQ(server.wait_for_end(), 0);
  }
  const fs::path database = workshop_.folder() / "data" / "faultline.db";
  std::fstream file(database, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(fs::file_size(database) / 2));
  file.put('\x5a').put('\xa5').put('\x5a');
  file.close();
  const std::string said = back_up(path("data"), path("copy.db"));
  EXPECT_EQ(exit_, 2) << said;
  EXPECT_THAT(said, HasSubstr("damaged"));
  EXPECT_FALSE(fs::exists(path("copy.db")));
}

void store_a_line_of(Store& store, const std::string& job) {
  store.submit({.source = {.job = job, .name = "a"},
                .batch = {.to_offset = 5, .lines = 1},
                .position = {.offset = 5, .lines = 1},
                .fingerprint = {0, 5, 1, 1, true}},
               [](const auto&, const std::exception_ptr& failure) { EXPECT_FALSE(failure); });
  store.drain();
}

// A folder of data with this job, as a server leaves it.
void make_data(const fs::path& folder, const std::string& job) {
  fs::create_directories(folder);
  Store store(folder / "faultline.db");
  store_a_line_of(store, job);
}

// The same if the server is killed: what it stored is in the log of the database.
void make_data_of_killed(const fs::path& folder, const std::string& job) {
  fs::create_directories(folder);
  const Workshop running;
  Store store(running.folder() / "faultline.db");
  store_a_line_of(store, job);
  for (const char* part : {"faultline.db", "faultline.db-wal"})
    fs::copy_file(running.folder() / part, folder / part);
}

std::string jobs_in(const fs::path& folder) {
  Store store(folder / "faultline.db");
  std::string names;
  for (const StoredJob& job : store.jobs()) names += job.name + " ";
  return names;
}

// Each file of a folder and its bytes.
std::map<std::string, std::string> files_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    files[entry.path().filename().string()] = read_file(entry.path());
  return files;
}

class Restore : public Backup {
 protected:
  // backup.db holds the job "old".
  void SetUp() override {
    make_data(path("before"), "old");
    faultline::back_up(path("before/faultline.db"), path("backup.db"));
  }
};

TEST_F(Restore, MakesTheFolderAndAFileForItsOwnerAlone) {
  fs::permissions(path("backup.db"), fs::perms::all);
  const std::string backup = read_file(path("backup.db"));
  EXPECT_THAT(restore(path("backup.db"), path("new")), HasSubstr("faultline.db: 1 jobs, "));
  EXPECT_EQ(exit_, 0);
  EXPECT_EQ(fs::status(path("new/faultline.db")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(files_of(path("new")).size(), 1U) << "nothing is left of the restoring";
  EXPECT_EQ(jobs_in(path("new")), "old ");
  EXPECT_EQ(read_file(path("backup.db")), backup);
  for (const char* part : {"-wal", "-shm"}) EXPECT_FALSE(fs::exists(path("backup.db") + part));
}

// The folder of a service under systemd belongs to a user who exists only while it runs.
TEST_F(Restore, ByRootGivesTheFileToTheOwnerOfTheFolder) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  fs::create_directories(path("new"));
  ASSERT_EQ(chown(path("new").c_str(), 61184, 61185), 0);
  restore(path("backup.db"), path("new"));
  struct stat made{};
  ASSERT_EQ(stat(path("new/faultline.db").c_str(), &made), 0);
  EXPECT_EQ(made.st_uid, 61184U);
  EXPECT_EQ(made.st_gid, 61185U);
}

TEST_F(Restore, RefusesTheFolderOfAServerThatRuns) {
  fs::create_directories(path("now"));
  const ServerProcess server(path("now"));
  for (const char* flags : {"", "--replace"}) {
    EXPECT_THAT(restore(path("backup.db"), path("now/data"), flags),
                HasSubstr("is in use by another Faultline process"));
    EXPECT_EQ(exit_, 2);
  }
  EXPECT_EQ(curl(server, "/api/v1/ingest?job=new&source=a", "-d 'NCCL INFO x'").status, 200);
}

TEST_F(Restore, ReplacesADatabaseOnlyIfToldToAndKeepsItWhole) {
  make_data_of_killed(path("now"), "new");
  ASSERT_GT(fs::file_size(path("now/faultline.db-wal")), 0U);
  const auto before = files_of(path("now"));
  EXPECT_THAT(restore(path("backup.db"), path("now")),
              HasSubstr("already exists; with --replace it is put aside"));
  EXPECT_EQ(exit_, 2);
  EXPECT_EQ(files_of(path("now")), before);

  EXPECT_THAT(restore(path("backup.db"), path("now"), "--replace"),
              HasSubstr("now/faultline.db.replaced-1: the database that was there"));
  EXPECT_EQ(exit_, 0);
  EXPECT_EQ(jobs_in(path("now")), "old ");
  EXPECT_THAT(restore(path("now/faultline.db.replaced-1"), path("now"), "--replace"),
              HasSubstr("replaced-2"));
  EXPECT_EQ(jobs_in(path("now")), "new ") << "and back, with its log";
}

// SQLite would take it for a part of the restored database.
TEST_F(Restore, TakesALogThatLiesThereAloneForADatabase) {
  make_data_of_killed(path("now"), "new");
  fs::remove(path("now/faultline.db"));
  restore(path("backup.db"), path("now"));
  EXPECT_EQ(exit_, 2);
  restore(path("backup.db"), path("now"), "--replace");
  EXPECT_EQ(exit_, 0);
  EXPECT_EQ(jobs_in(path("now")), "old ");
}

TEST_F(Restore, TellsOfASnapshotWhoseLogIsDamaged) {
  make_data_of_killed(path("now"), "new");
  std::string log = read_file(path("now/faultline.db-wal"));
  log[log.size() * 2 / 3] ^= 1;
  workshop_.write("now/faultline.db-wal", log);
  EXPECT_THAT(
      restore(path("now/faultline.db"), path("then")),
      HasSubstr("faultline.db-wal: is damaged: transactions after its first invalid frame"));
}

TEST_F(Restore, RefusesWhatIsNoSoundBackupAndLeavesTheFolderAsItWas) {
  const std::string sound = read_file(path("backup.db"));
  ASSERT_GT(sound.size(), 10U * 4096);
  make_data(path("now"), "new");
  const auto before = files_of(path("now"));
  struct Row {
    const char* about;
    std::string bytes;
    std::string error;
  };
  std::vector<Row> rows{
      {"no database", "hello", "file is not a database"},
      {"an empty file", "", "is not a Faultline database"},
      {"cut off", sound.substr(0, sound.size() - 4096), "is malformed"},
  };
  for (std::size_t page = 1; page < sound.size() / 4096; page += 5) {
    rows.push_back({"a damaged page", sound, "is damaged"});
    rows.back().bytes[page * 4096 + 1000] ^= 1;
  }
  for (const Row& row : rows) {
    workshop_.write("bad.db", row.bytes);
    const std::string said = restore(path("bad.db"), path("now"), "--replace");
    EXPECT_EQ(exit_, 2) << row.about;
    EXPECT_THAT(said, testing::StartsWith("faultline: " + path("bad.db") + ": ")) << row.about;
    EXPECT_THAT(said, HasSubstr(row.error)) << row.about;
  }
  workshop_.write("bad.db", sound);
  Database(path("bad.db"), Database::Access::read_write)
      .execute(fmt::format("PRAGMA user_version = {}", migrations().size() + 1));
  EXPECT_THAT(restore(path("bad.db"), path("now"), "--replace"),
              HasSubstr("bad.db: was written by a newer Faultline"));
  EXPECT_EQ(files_of(path("now")), before);
}

}  // namespace
}  // namespace faultline
