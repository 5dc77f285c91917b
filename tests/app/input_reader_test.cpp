#include "app/input_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "workshop.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::Pair;

const Timestamp kChanged{std::chrono::hours(24 * 365 * 50)};
const std::string kXid =
    "[  812.5] NVRM: Xid (PCI:0000:3b:00): 79, pid=40213, name=python3, GPU has fallen off the "
    "bus.\n";

class ReadInput : public testing::Test {
 protected:
  // Reads a file of the workshop; returns the sources and the number of lines of each.
  std::vector<std::pair<std::string, std::uint64_t>> read(const std::string& file) {
    std::vector<std::pair<std::string, std::uint64_t>> lines;
    batches = 0;
    bytes = 0;
    const InputFile input{file, (workshop.folder() / file).string(), {}, kChanged};
    end = read_input(input, {.job = "llama", .name = "", .host = "gpu-node-3"}, nullptr, bytes,
                     kChanged, [&](const SourceBatch& got) {
                       EXPECT_EQ(got.source->job, "llama");
                       EXPECT_EQ(got.source->host, "gpu-node-3");
                       EXPECT_EQ(got.received, kChanged);
                       ++batches;
                       if (lines.empty() || lines.back().first != got.source->name)
                         lines.emplace_back(got.source->name, 0);
                       lines.back().second += got.batch.lines;
                       return !stop_at_once;
                     });
    return lines;
  }

  Workshop workshop;
  InputEnd end;
  std::atomic<std::uint64_t> bytes = 0;
  int batches = 0;
  bool stop_at_once = false;
};

TEST_F(ReadInput, MakesASourceOfAFile) {
  workshop.write("dmesg.txt", kXid + kXid);
  EXPECT_THAT(read("dmesg.txt"), ElementsAre(Pair("dmesg.txt", 2)));
  EXPECT_EQ(bytes, 2 * kXid.size());
  EXPECT_TRUE(end.readable);
  EXPECT_EQ(end.trouble, "");
}

TEST_F(ReadInput, ReadsALastLineWithoutANewline) {
  workshop.write("dmesg.txt", kXid + kXid.substr(0, kXid.size() - 1));
  EXPECT_THAT(read("dmesg.txt"), ElementsAre(Pair("dmesg.txt", 2)));
}

TEST_F(ReadInput, MakesASourceOfEachMemberOfAnArchive) {
  workshop.write("a.log", kXid);
  workshop.write("b/c.log", kXid + kXid);
  workshop.make("tar -czf out a.log b; tar -cf old.tar a.log; tar -rf old.tar a.log");
  EXPECT_THAT(read("out"), ElementsAre(Pair("out/a.log", 1), Pair("out/b/c.log", 2)));
  EXPECT_THAT(read("old.tar"), ElementsAre(Pair("old.tar/a.log", 1), Pair("old.tar/a.log#2", 1)))
      << "versions of a file are kept apart";
}

TEST_F(ReadInput, HandsALargeFileOverInPieces) {
  std::string text;
  while (text.size() < (std::size_t{20} << 20)) text += kXid;
  workshop.write("dmesg.txt", text);
  const auto lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  EXPECT_THAT(read("dmesg.txt"), ElementsAre(Pair("dmesg.txt", lines)));
  EXPECT_GE(batches, 4);
  EXPECT_LE(batches, 40);
}

TEST_F(ReadInput, StopsWhenNobodyWantsMore) {
  workshop.make("yes 'not much of a log' | head -c 100000000 > dmesg.txt; touch out");
  stop_at_once = true;
  (void)read("dmesg.txt");
  EXPECT_LT(bytes, 20'000'000U);
}

TEST_F(ReadInput, UsesWhatItCouldReadOfAFileThatBreaksOff) {
  workshop.write("dmesg.txt", kXid + kXid);
  workshop.make("gzip -c dmesg.txt | head -c -6 > out");
  EXPECT_THAT(read("out"), ElementsAre(Pair("out", 2)));
  EXPECT_TRUE(end.readable);
  EXPECT_THAT(end.trouble, testing::HasSubstr("the gzip data breaks off"));
}

TEST_F(ReadInput, SaysWhyAFileCannotBeRead) {
  EXPECT_THAT(read("nosuch"), ElementsAre());
  EXPECT_FALSE(end.readable);
  EXPECT_EQ(end.trouble, "No such file or directory");

  // The file opens, but reading its first page fails because nothing is mapped there.
  workshop.make("ln -s /proc/self/mem mem; touch out");
  (void)read("mem");
  EXPECT_FALSE(end.readable);
  EXPECT_EQ(end.trouble, "Input/output error");
}

}  // namespace
}  // namespace faultline
