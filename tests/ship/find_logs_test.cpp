#include "ship/find_logs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "ship/log_files.h"
#include "workshop.h"

namespace faultline {
namespace {

using testing::UnorderedElementsAre;

TEST(LogNames, AreThoseOfRotatedFilesWithoutTheirNumberOrDate) {
  for (const char* part : {"nccl.log.1", "nccl.log.12.gz", "nccl.log-20261128", "nccl.log.gz",
                           "nccl.log.2026-11-28", "nccl.log-20261128-153000.zst", "nccl.log"})
    EXPECT_EQ(log_name_of(part), "nccl.log") << part;
  for (const char* other : {"nccl.log.4711", "nccl.log.20269999", "rank.0", "rank_7", "20261128"})
    EXPECT_EQ(log_name_of(other), other);
}

class FoundLogsOf : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return (workshop.folder() / name).string(); }
  FoundLogs find(const std::vector<std::string>& patterns) const {
    return find_logs(patterns, {}, at("state"), 100);
  }

  Workshop workshop;
};

TEST_F(FoundLogsOf, FoldersAreAllFilesBelowThemWithRotatedOnesAsPartsOfTheirLog) {
  for (const char* name :
       {"a/nccl.log", "a/nccl.log.1", "a/nccl.log.2.gz", "a/b/rank.1", "a/b/rank.2", "a/.hidden"})
    workshop.write(name, "line\n");
  EXPECT_THAT(find({at("a")}).logs,
              UnorderedElementsAre(at("a/nccl.log"), at("a/b/rank.1"), at("a/b/rank.2")));
}

TEST_F(FoundLogsOf, PatternsAreWhatTheyMatchNow) {
  for (const char* name : {"1/nccl.log", "2/nccl.log", "2/other.txt"}) workshop.write(name, "");
  EXPECT_THAT(find({at("*/nccl.log")}).logs,
              UnorderedElementsAre(at("1/nccl.log"), at("2/nccl.log")));
  EXPECT_THAT(find({at("3/*.log")}).logs, UnorderedElementsAre());
}

TEST_F(FoundLogsOf, AFileThatIsNotThereYetIsALogThatMayCome) {
  EXPECT_THAT(find({at("later.log")}).logs, UnorderedElementsAre(at("later.log")));
}

TEST_F(FoundLogsOf, PipesSocketsAndLoopsOfLinksAreNoLogs) {
  workshop.write("a/nccl.log", "");
  ASSERT_EQ(mkfifo(at("a/pipe").c_str(), 0600), 0);
  std::filesystem::create_directory_symlink(at("a"), at("a/loop"));
  std::filesystem::create_directory_symlink(at("a"), at("a/latest"));
  std::filesystem::create_symlink(at("a/nccl.log"), at("a/link.log"));
  const FoundLogs found = find({at("a")});
  EXPECT_THAT(found.logs, UnorderedElementsAre(at("a/nccl.log")));
  EXPECT_THAT(found.folders, UnorderedElementsAre(at("a")));
}

// The agent may read what a user may not.
TEST_F(FoundLogsOf, LinksOfOtherUsersLeadToTheirOwnFilesOnly) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make files of other users";
  for (const char* name : {"logs/own.log", "others/secret.log", "theirs/run.log"})
    workshop.write(name, "line\n");
  const auto link = [&](const char* to, const char* name, uid_t owner) {
    std::filesystem::create_symlink(at(to), at(name));
    ASSERT_EQ(lchown(at(name).c_str(), owner, owner), 0);
  };
  ASSERT_EQ(chown(at("theirs/run.log").c_str(), 1001, 1001), 0);
  link("others/secret.log", "logs/a.log", 1001);
  link("others", "logs/folder", 1001);
  link("/", "logs/all", 1001);
  link("theirs/run.log", "logs/b.log", 1001);
  EXPECT_THAT(find({at("logs")}).logs,
              UnorderedElementsAre(at("logs/own.log"), at("theirs/run.log")));
  // Nor by a pattern, which a user's folder may match.
  std::filesystem::create_directories(at("logs/user"));
  link("others", "logs/user/deep", 1001);
  EXPECT_THAT(find({at("logs/*.log")}).logs,
              UnorderedElementsAre(at("logs/own.log"), at("theirs/run.log")));
  EXPECT_THAT(find({at("logs/*/*.log"), at("logs/*/*/*.log")}).logs, UnorderedElementsAre());
  std::filesystem::remove_all(at("logs/user"));
  link("others/secret.log", "logs/c.log", 0);
  EXPECT_THAT(
      find({at("logs")}).logs,
      UnorderedElementsAre(at("logs/own.log"), at("theirs/run.log"), at("others/secret.log")));
}

TEST_F(FoundLogsOf, FilesThatBecomeLinksAreNotRead) {
  for (const char* name : {"logs/a.log", "others/a.log", "others/secret.log"})
    workshop.write(name, "line\n");
  std::filesystem::create_symlink(at("others/secret.log"), at("logs/a.log.1"));
  ASSERT_EQ(files_of_log(at("logs/a.log")).size(), 1U);
  EXPECT_TRUE(files_of_log(at("logs/a.log"))[0].file.ok());
  std::filesystem::remove_all(at("logs"));
  std::filesystem::create_directory_symlink(at("others"), at("logs"));
  for (const LogFile& file : files_of_log(at("logs/a.log"))) EXPECT_FALSE(file.file.ok());
}

TEST_F(FoundLogsOf, NumberedFilesBesideAFolderOrOfTenAndOneAreLogsOfTheirOwn) {
  for (const char* name : {"rank/x", "rank.1", "rank.2", "rank.10", "out.1"})
    workshop.write(name, "line\n");
  EXPECT_THAT(
      find({workshop.folder().string()}).logs,
      UnorderedElementsAre(at("rank/x"), at("rank.1"), at("rank.2"), at("rank.10"), at("out.1")));
  EXPECT_EQ(files_of_log(at("rank.1")).size(), 1U);
}

TEST_F(FoundLogsOf, TheFolderOfTheStateHasNone) {
  workshop.write("state/state.json", "{}");
  workshop.write("nccl.log", "");
  EXPECT_THAT(find({workshop.folder().string()}).logs, UnorderedElementsAre(at("nccl.log")));
}

TEST_F(FoundLogsOf, ThereAreOnlySoManyAsCanBeFollowed) {
  for (int i = 0; i < 150; ++i) workshop.write("log" + std::to_string(i) + "x", "");
  const FoundLogs found = find({workshop.folder().string()});
  EXPECT_EQ(found.logs.size(), 100U);
  EXPECT_TRUE(found.too_many);
}

}  // namespace
}  // namespace faultline
