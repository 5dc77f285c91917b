// A source that comes in bodies: wherever they are cut, and whether or not each has a reader of its
// own, they give the same as their bytes in one piece.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fixture.h"
#include "ingest/reader.h"
#include "told_by_source.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

const Timestamp kReceived = *parse_rfc3339("2026-03-10T12:00:00Z");

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string told_in_one(std::string_view text) {
  Reader reader(Cursor{}, kReceived);
  reader.feed(text);
  reader.close();
  ToldBySource told;
  told.add(reader.take());
  return told.text();
}

// Cuts at these places, which are in order.
std::string told_in_bodies(std::string_view text, const std::vector<std::size_t>& cuts) {
  ToldBySource told;
  Cursor cursor;
  const auto read = [&](std::size_t end) {
    Reader reader(cursor, kReceived);
    reader.feed(std::string(text.substr(cursor.offset, end - cursor.offset)));
    if (end < text.size())
      reader.finish();
    else
      reader.close();
    told.add(reader.take());
    cursor = reader.cursor();
    EXPECT_EQ(cursor.offset, end) << "what a body brought is held";
  };
  for (const std::size_t cut : cuts) read(cut);
  read(text.size());
  return told.text();
}

std::vector<fs::path> inputs() {
  std::vector<fs::path> paths;
  for (const char* folder : {"/ingest", "/parsers"})
    for (const auto& entry : fs::recursive_directory_iterator(std::string(TESTS_DIR) + folder))
      if (entry.path().filename().string().starts_with("input") && entry.file_size() < 20'000)
        paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

TEST(Bodies, CutAnywhereTellWhatTheirBytesTellInOne) {
  std::mt19937 random(7);
  ASSERT_GT(inputs().size(), 50U);
  for (const fs::path& path : inputs()) {
    const std::string text = content_of(path);
    const std::string expected = told_in_one(text);
    for (int round = 0; round < 8; ++round) {
      std::vector<std::size_t> cuts(1 + random() % 6);
      for (std::size_t& cut : cuts) cut = random() % (text.size() + 1);
      std::ranges::sort(cuts);
      ASSERT_EQ(told_in_bodies(text, cuts), expected) << path << " round " << round;
    }
  }
}

TEST(Bodies, CutAtAnyByteTellTheSame) {
  const std::string frame = "n1:615:18953 [2] ";
  struct Case {
    const char* why;
    std::string text;
  };
  const Case cases[] = {
      {"a fact whose beginning is a fact as well",
       "[41280.701551] NVRM: Xid (PCI:0000:3b:00): 79, pid=40224, name=python3, GPU has fallen off "
       "the bus.\n[41281.5] NVRM: Xid (PCI:0000:3b:00): 154, pid=40224, GPU recovery action\n"},
      {"a warning that the next line goes on with",
       frame + "init.cc:9 NCCL WARN Cuda failure 'out of\nmemory'\n" + frame +
           "NCCL INFO comm 0x55 done\n"},
      {"a warning that may go on when its source ends",
       frame + "socket.c:48 NCCL WARN socketStartConnect: Connect to 10.0.0.7<4\n"},
      {"stamps without a year, behind one that has it",
       "2024-05-01T12:34:57Z n1 kernel: up\nMay  2 07:00:00 n1 kernel: NVRM: Xid "
       "(PCI:0000:3b:00): 79, GPU has fallen off the bus.\n"},
      {"what would be a dump at the beginning of a file is none in the midst of it",
       "a line\n{\"version\": \"2.10\", \"entries\": []}\nanother\n"},
      {"and so is what would be a trace",
       "a line\n{\"schemaVersion\": 1, \"traceEvents\": []}\nanother\n"},
      {"empty lines above what may be a trace",
       "\n\n{\"schemaVersion\": 1, \"traceEvents\": []}\n"},
      {"a pickle that is refused for what stands in its middle",
       std::string("\x80\x02}q\xfe", 5) + std::string(400, 'N') + "."},
      {"several dumps",
       fixture("flight_recorder/v2.10_p4.pickle") + fixture("flight_recorder/v2.10_p4.pickle")},
      {"a line in pieces of a container's",
       "2024-05-01T12:34:57Z stdout P " + frame +
           "NCCL INFO Using net\n2024-05-01T12:34:57Z stdout F "
           "work IB\n"},
      {"gpu-7 | CHANGED | rc=0 >>\nCA 'mlx5_0'\n\tPort 1:\n\t\tState: Down\n"
       "gpu-8 | CHANGED | rc=0$ perfquery -x 37 1\nCA 'mlx5_1'\n\tPort 1:\n\t\tState: Active\n"
       "CA 'mlx5_2'\n\tPort 1:\n\t\tState: Active\n",
       "answers of ansible, one of which ran into a prompt"},
  };
  for (const Case& c : cases) {
    const std::string expected = told_in_one(c.text);
    for (std::size_t cut = 0; cut <= c.text.size(); ++cut)
      ASSERT_EQ(told_in_bodies(c.text, {cut}), expected) << c.why << ", cut at " << cut;
    ASSERT_EQ(told_in_bodies(c.text, {c.text.size() / 3, c.text.size() / 2}), expected) << c.why;
  }
}

TEST(Bodies, OfAnotherFileDoNotGoOnWithTheLineThatTheFirstBrokeOffIn) {
  Reader first(Cursor{}, kReceived);
  first.feed("n1:1:2 [0] NCCL INFO Using net");
  first.finish();
  EXPECT_EQ(first.take().lines, 0U);
  Reader second(first.cursor(), kReceived);
  second.begin_file();
  second.feed("work IB\nn1:1:2 [0] NCCL INFO Using network IB\n");
  second.finish();
  const Batch batch = second.take();
  EXPECT_EQ(batch.lines, 3U);
  EXPECT_EQ(batch.recognized, 2U);
  ASSERT_EQ(batch.events.size(), 1U);
  EXPECT_EQ(batch.events[0].line, 3U);
  EXPECT_EQ(batch.end, SourceEnd::whole);
}

TEST(Bodies, ADumpMayBeTheFileThatFollowsALog) {
  const std::string dump = fixture("flight_recorder/torch_v2.10.pickle");
  Reader first(Cursor{}, kReceived);
  first.feed("a line\n");
  first.finish();
  (void)first.take();
  Reader second(first.cursor(), kReceived);
  second.begin_file();
  second.feed(dump);
  second.finish();
  EXPECT_EQ(second.take().dialects.at("flight-recorder"), 1U);
}

TEST(Bodies, TellWhatWaitsForMoreOnceNothingComes) {
  const std::string torn =
      "first\nn1:615:18953 [2] init.cc:9 NCCL WARN Cuda failure 'out of memory'";
  Reader reader(Cursor{}, kReceived);
  reader.feed(torn);
  reader.finish();
  EXPECT_EQ(reader.take().facts(), 0U);
  Reader later(reader.cursor(), kReceived);
  EXPECT_EQ(later.rest().facts(), 1U);
  EXPECT_EQ(later.take().lines, 0U) << "asking changes nothing";
  later.close();
  const Batch last = later.take();
  EXPECT_EQ(last.facts(), 1U);
  EXPECT_EQ(last.lines, 1U);
  // If the rest comes after all, the line is not counted again.
  Reader after(later.cursor(), kReceived);
  after.feed(" (2)\nnext\n");
  after.close();
  const Batch rest = after.take();
  EXPECT_EQ(rest.lines, 1U);
  EXPECT_EQ(rest.facts(), 0U);
}

TEST(Bodies, AWarningIsToldWhenTheSenderPauses) {
  Reader reader(Cursor{}, kReceived);
  reader.feed("n1:615:18953 [2] init.cc:9 NCCL WARN Cuda failure 'out of memory'\n");
  EXPECT_EQ(reader.take().facts(), 0U);
  reader.settle();
  EXPECT_EQ(reader.take().facts(), 1U);
}

}  // namespace
}  // namespace faultline
