#include "app/input_walker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "workshop.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Timestamp kNow{std::chrono::hours(24 * 365 * 50)};

class FindInputs : public testing::Test {
 protected:
  // Arguments are relative to the test's folder.
  std::vector<std::string> names(std::vector<std::string> arguments) {
    for (std::string& argument : arguments) argument = path(argument);
    const Result<Inputs> inputs = find_inputs(arguments, kNow);
    if (!inputs) return {inputs.error().message};
    warnings = inputs->warnings;
    std::vector<std::string> found;
    for (const InputFile& file : inputs->files) found.push_back(file.name);
    return found;
  }

  std::string path(const std::string& name) const { return (workshop.folder() / name).string(); }

  Workshop workshop;
  std::vector<std::string> warnings;
};

TEST_F(FindInputs, CallsAFileAsItWasTyped) {
  workshop.write("logs/a.log", "12345");
  const Result<Inputs> inputs = find_inputs({path("logs/a.log")}, kNow);
  ASSERT_TRUE(inputs);
  ASSERT_EQ(inputs->files.size(), 1U);
  EXPECT_EQ(inputs->files[0].name, path("logs/a.log"));
  EXPECT_EQ(inputs->files[0].path, path("logs/a.log"));
  EXPECT_EQ(inputs->files[0].size, 5U);
}

TEST_F(FindInputs, KnowsWhenAFileChanged) {
  workshop.write("a.log", "");
  workshop.make("touch -d 2026-03-05T02:47:11.5Z a.log; touch out");
  const Result<Inputs> inputs = find_inputs({path("a.log")}, kNow);
  ASSERT_TRUE(inputs);
  EXPECT_EQ(inputs->files[0].changed, parse_rfc3339("2026-03-05T02:47:11.5Z"));
}

TEST_F(FindInputs, WalksAFolderInTheOrderOfNames) {
  for (const char* name : {"logs/b/dmesg.txt", "logs/a/dmesg.txt", "logs/a.log", "logs/z"})
    workshop.write(name, "");
  EXPECT_THAT(names({"logs"}), ElementsAre("a.log", "a/dmesg.txt", "b/dmesg.txt", "z"));
  EXPECT_THAT(names({"logs/"}), ElementsAre("a.log", "a/dmesg.txt", "b/dmesg.txt", "z"));
}

TEST_F(FindInputs, KeepsTheNamesOfSeveralFoldersApart) {
  workshop.write("node-2/dmesg.txt", "");
  workshop.write("node-1/dmesg.txt", "");
  EXPECT_THAT(names({"node-2", "node-1"}),
              ElementsAre(path("node-2/dmesg.txt"), path("node-1/dmesg.txt")));
}

TEST_F(FindInputs, ReadsNothingTwice) {
  workshop.write("logs/b.log", "");
  workshop.write("logs/run-7/c.log", "");
  workshop.make(
      "cd logs; ln -s b.log a.log; ln b.log d.log; ln -s run-7 latest; ln -s .. run-7/up; ln -s . "
      "me;"
      "touch ../out");
  EXPECT_THAT(names({"logs", "logs/b.log", "logs"}),
              ElementsAre(path("logs/b.log"), path("logs/run-7/c.log")));
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(FindInputs, FollowsLinksOutOfTheFolder) {
  workshop.write("elsewhere/dmesg.txt", "");
  workshop.write("logs/b.log", "");
  workshop.make("ln -s ../elsewhere logs/a; touch out");
  EXPECT_THAT(names({"logs"}), ElementsAre("a/dmesg.txt", "b.log"));
}

TEST_F(FindInputs, PassesOverWhatIsNoFileInAFolder) {
  workshop.write("logs/a.log", "");
  workshop.make("mkfifo logs/pipe; ln -s /dev/zero logs/zero; touch out");
  EXPECT_THAT(names({"logs"}), ElementsAre("a.log"));
}

TEST_F(FindInputs, TakesAPipeThatIsNamedItself) {
  workshop.make("mkfifo pipe; touch out");
  const Result<Inputs> inputs = find_inputs({path("pipe"), InputFile::kStdin}, kNow);
  ASSERT_TRUE(inputs);
  EXPECT_THAT(inputs->files,
              ElementsAre(InputFile{path("pipe"), path("pipe"), std::nullopt, kNow},
                          InputFile{"stdin", InputFile::kStdin, std::nullopt, kNow}));
}

TEST_F(FindInputs, SaysWhichArgumentDoesNotExist) {
  EXPECT_THAT(names({"nosuch"}),
              ElementsAre("cannot read " + path("nosuch") + ": No such file or directory"));
}

TEST_F(FindInputs, SaysThatAFolderHoldsNoFile) {
  workshop.make("mkdir -p logs/empty; touch out");
  EXPECT_THAT(names({"logs"}), ElementsAre("there is no file in " + path("logs")));
}

TEST_F(FindInputs, WarnsOfALinkThatLeadsNowhere) {
  workshop.write("logs/a.log", "");
  workshop.make("ln -s nosuch logs/b.log; touch out");
  EXPECT_THAT(names({"logs"}), ElementsAre("a.log"));
  EXPECT_THAT(warnings,
              ElementsAre("cannot read " + path("logs/b.log") + ": No such file or directory"));
}

TEST_F(FindInputs, WarnsOfAFolderItMayNotLookInto) {
  if (geteuid() == 0) GTEST_SKIP() << "root may look into any";
  workshop.write("logs/a.log", "");
  workshop.write("logs/b/c.log", "");
  workshop.make("chmod 0 logs/b; touch out");
  EXPECT_THAT(names({"logs"}), ElementsAre("a.log"));
  EXPECT_THAT(warnings, ElementsAre("cannot read " + path("logs/b") + ": Permission denied"));
  workshop.make("chmod 700 logs/b");
}

TEST_F(FindInputs, OfARotatedLogTheOldestPartComesFirst) {
  for (const char* name : {"nccl.log", "nccl.log.1", "nccl.log.2.gz", "nccl.log.10", "other.log"})
    workshop.write(std::string("logs/") + name, "x");
  EXPECT_THAT(names({"logs"}),
              ElementsAre("nccl.log.10", "nccl.log.2.gz", "nccl.log.1", "nccl.log", "other.log"));
}

}  // namespace
}  // namespace faultline
