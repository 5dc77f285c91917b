// What an agent reads of a log arrives at the server as if the server had read the lines.
#include "ingest/edge_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "ingest/block_bytes.h"
#include "ingest/block_frames.h"
#include "ingest/block_reader.h"
#include "ingest/kept_lines.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

const Timestamp kNow = *parse_rfc3339("2026-03-10T12:00:00Z");

const std::string kCall =
    "gpu-7:4711:4790 [0] NCCL INFO AllReduce: opCount 1 sendbuff 0x7f0000000000 recvbuff "
    "0x7f0000100000 count 1024 datatype 7 op 0 root 0 comm 0x55aa01 [nranks=2] stream 0x1\n";

std::vector<std::string> golden_logs() {
  std::vector<std::string> logs;
  for (const char* folder : {"/ingest", "/parsers"})
    for (const auto& entry : fs::recursive_directory_iterator(std::string(TESTS_DIR) + folder)) {
      if (entry.path().filename() != "input.log") continue;
      std::ifstream file(entry.path(), std::ios::binary);
      logs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  return logs;
}

// As the server reads a body that it gets.
std::vector<ReadBlock> read_by_server(Cursor& cursor, std::string_view bytes) {
  BlockReader reader(cursor, kNow, nullptr, cursor.offset == 0 ? kFirstBlockBytes : kMaxBlockBytes);
  reader.reader().keep_lines();
  std::vector<ReadBlock> blocks;
  const auto take = [&](bool everything) {
    if (auto block = reader.take(everything)) blocks.push_back(std::move(*block));
    if (!blocks.empty()) cursor = blocks.back().after;
  };
  while (!bytes.empty()) {
    bytes.remove_prefix(reader.feed(bytes));
    if (reader.is_full()) take(false);
  }
  reader.reader().finish();
  take(true);
  return blocks;
}

// As the server takes up blocks that it gets.
std::vector<ReadBlock> taken_up(Cursor& cursor, std::string_view frames) {
  std::vector<ReadBlock> blocks;
  BlockFrames cutter;
  const auto fed = cutter.feed(frames, [&](std::string_view bytes) -> Result<void> {
    Result<SentBlock> sent = read_block(bytes);
    if (!sent) return sent.error();
    EXPECT_EQ(sent->begins_at, mark_of_state(cursor.lines, cursor.carry));
    move_block(sent->block, cursor.offset, cursor.lines);
    cursor = sent->block.after;
    blocks.push_back(std::move(sent->block));
    return {};
  });
  EXPECT_TRUE(fed) << (fed ? "" : fed.error().message);
  EXPECT_TRUE(cutter.at_end());
  return blocks;
}

// An order tells only what comes first.
void number_orders(ReadBlock& block) {
  std::vector<std::uint32_t*> orders;
  for (Event& event : block.batch.events) orders.push_back(&event.order);
  for (CallRun& run : block.batch.runs) orders.push_back(&run.order);
  std::ranges::sort(orders, {}, [](const std::uint32_t* order) { return *order; });
  for (std::uint32_t i = 0; i < orders.size(); ++i) *orders[i] = i;
}

TEST(EdgeReader, GivesTheServerWhatItWouldHaveReadItself) {
  std::mt19937 random(7);
  std::size_t read_here = 0;
  for (const std::string& log : golden_logs()) {
    for (int round = 0; round < 4; ++round) {
      Cursor here;
      Cursor there;
      std::string_view rest = log;
      while (!rest.empty()) {
        const std::size_t most = round == 0 ? rest.size() : 1 + random() % 4000;
        const std::string piece(rest.substr(0, std::min(most, rest.size())));
        rest.remove_prefix(piece.size());
        Cursor taken = there;
        const auto frames = read_at_the_edge(here, piece, kNow, nullptr);
        std::vector<ReadBlock> expected = read_by_server(there, piece);
        if (!frames) {
          here = there;  // it was sent as it is, and the server says where it stands
          continue;
        }
        ++read_here;
        std::vector<ReadBlock> got = taken_up(taken, *frames);
        ASSERT_EQ(got.size(), expected.size()) << log.substr(0, 200);
        for (ReadBlock& block : got) number_orders(block);
        for (ReadBlock& block : expected) number_orders(block);
        for (std::size_t i = 0; i < got.size(); ++i) {
          ASSERT_EQ(got[i].batch, expected[i].batch) << log.substr(0, 200);
          ASSERT_EQ(got[i].after, expected[i].after) << log.substr(0, 200);
          ASSERT_EQ(got[i].digests, expected[i].digests);
          ASSERT_EQ(got[i].kept_lines, expected[i].kept_lines);
        }
        ASSERT_EQ(here, there);
      }
    }
  }
  EXPECT_GT(read_here, 300U);
}

TEST(EdgeReader, LeavesToTheServerWhatIsNotReadByLines) {
  const auto is_left = [](std::string_view begins) {
    Cursor cursor;
    const bool is_left = !read_at_the_edge(cursor, begins, kNow, nullptr);
    EXPECT_EQ(cursor == Cursor{}, is_left);
    return is_left;
  };
  EXPECT_TRUE(is_left(std::string("\x80\x02}q\0", 5))) << "a pickle";
  EXPECT_TRUE(is_left("{\"pg_config\": {")) << "perhaps a dump";
  EXPECT_TRUE(is_left("{\"traceEvents\": [")) << "a trace";
  EXPECT_TRUE(is_left("\x1f\x8b\x08 packed\n")) << "gzip";
  EXPECT_TRUE(is_left(std::string("N\0C\0C\0L\0\n\0", 10))) << "text of 16 bits";
  EXPECT_FALSE(is_left("a line\nand another"));
}

TEST(EdgeReader, SendsALineOfAMegabyteAsItIsWhereItWouldBeTooMuch) {
  Cursor cursor;
  const std::string piece(std::size_t{3} << 20, 'x');
  const auto frames = read_at_the_edge(cursor, piece, kNow, nullptr);
  ASSERT_TRUE(frames) << "of a line that is too long only its length is told";
  EXPECT_LT(frames->size(), 1000U);
}

TEST(BlockFrames, CutsABodyHoweverItComes) {
  const std::string body = framed("one") + framed("") + framed(std::string(3000, 'x'));
  for (const std::size_t step : {1U, 7U, 100U, 4000U}) {
    BlockFrames frames;
    std::vector<std::size_t> sizes;
    for (std::size_t at = 0; at < body.size(); at += step)
      ASSERT_TRUE(frames.feed(body.substr(at, step), [&](std::string_view block) -> Result<void> {
        sizes.push_back(block.size());
        return {};
      }));
    EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 0, 3000}));
    EXPECT_TRUE(frames.at_end());
  }
}

TEST(BlockFrames, RefusesWhatIsNoBlock) {
  const std::vector<std::string> bodies{"a line of a log\n",
                                        "faultline-block x\n",
                                        "faultline-block -1\n",
                                        "faultline-block 99999999\n",
                                        "faultline-block 1234567890123\n",
                                        std::string(40, 'f')};
  for (const std::string& body : bodies) {
    BlockFrames frames;
    EXPECT_FALSE(frames.feed(body, [](std::string_view) -> Result<void> { return {}; })) << body;
  }
}

// A progress bar writes no newline for hours, and each block has all of the line that is open.
TEST(EdgeReader, LeavesWhatStandsInALongLineToTheServer) {
  Cursor cursor;
  const std::string start = kCall;
  ASSERT_TRUE(read_at_the_edge(cursor, start + std::string(1000, 'x'), kNow, nullptr));
  EXPECT_FALSE(read_at_the_edge(cursor, std::string(20'000, 'x'), kNow, nullptr));
}

// What a hostile agent may send: a block of a real log, with one thing changed.
class HostileBlock : public testing::Test {
 protected:
  static ReadBlock block() {
    std::ifstream file(TESTS_DIR "/parsers/golden/nccl_2_21_startup/input.log", std::ios::binary);
    std::string log(2000, ' ');
    file.read(log.data(), static_cast<std::streamsize>(log.size()));
    log = log.substr(0, log.rfind('\n') + 1) + kCall + kCall;
    Cursor cursor;
    const auto frames = read_at_the_edge(cursor, log, kNow, nullptr);
    ReadBlock largest;
    Cursor at;
    for (ReadBlock& one : taken_up(at, frames.value()))
      if (one.batch.facts() > largest.batch.facts()) largest = std::move(one);
    EXPECT_FALSE(largest.batch.events.empty());
    EXPECT_FALSE(largest.batch.runs.empty());
    move_block(largest, -largest.batch.from_offset, -(largest.after.lines - largest.batch.lines));
    return largest;
  }
  static std::string marks(void (*make)(LineKeeper&)) {
    LineKeeper keeper;
    make(keeper);
    return keeper.take();
  }
  static bool is_taken(ReadBlock block) {
    return read_block(write_block(std::move(block), Cursor{})).has_value();
  }
};

TEST_F(HostileBlock, IsRefusedWhateverIsWrongWithIt) {
  struct Lie {
    const char* what;
    void (*tell)(ReadBlock& block);
  };
  const Lie kLies[] = {
      {"an event of no speaker", [](ReadBlock& b) { b.batch.events[0].speaker = 100'000; }},
      {"an event behind the end", [](ReadBlock& b) { b.batch.events[0].offset = 1U << 30; }},
      {"an event on a later line", [](ReadBlock& b) { b.batch.events[0].line = 1U << 30; }},
      {"events without an order", [](ReadBlock& b) { b.batch.events.back().order = 0; }},
      {"a text of a megabyte", [](ReadBlock& b) { b.batch.events[0].text.resize(1 << 20, 'x'); }},
      {"a time that overflows", [](ReadBlock& b) { b.batch.events[0].time.wall_us = INT64_MAX; }},
      {"a doubt that overflows",
       [](ReadBlock& b) { b.batch.events[0].time.uncertainty_us = INT64_MAX; }},
      {"calls of no speaker", [](ReadBlock& b) { b.batch.runs[0].speaker = 100'000; }},
      {"a call without a signature",
       [](ReadBlock& b) { b.batch.runs[0].calls[0].signature = 100'000; }},
      {"a call on a later line", [](ReadBlock& b) { b.batch.runs[0].calls[0].line = 1U << 30; }},
      {"a run without calls", [](ReadBlock& b) { b.batch.runs[0].calls.clear(); }},
      {"more calls than lines",
       [](ReadBlock& b) { b.batch.runs[0].calls.resize(100'000, b.batch.runs[0].calls[0]); }},
      {"more lines than bytes", [](ReadBlock& b) { b.batch.lines = b.after.lines = 1U << 30; }},
      {"a stretch of a terabyte",
       [](ReadBlock& b) { b.batch.to_offset = b.after.offset = std::uint64_t{1} << 40; }},
      {"no bytes", [](ReadBlock& b) { b.batch.to_offset = b.after.offset = 0; }},
      {"a first line far away", [](ReadBlock& b) { b.batch.first_line = 77; }},
      {"more recognized lines than lines", [](ReadBlock& b) { b.batch.recognized = 1U << 30; }},
      {"more skipped lines than lines", [](ReadBlock& b) { b.batch.skipped = 1U << 30; }},
      {"a dialect that is markup", [](ReadBlock& b) { b.batch.dialects["<b>"] = 1; }},
      {"a dialect of a million lines", [](ReadBlock& b) { b.batch.dialects["nccl"] = 1'000'000; }},
      {"a thousand dialects",
       [](ReadBlock& b) {
         for (int i = 0; i < 1000; ++i) b.batch.dialects["d" + std::to_string(i)] = 1;
       }},
      {"a subsystem that NCCL does not have", [](ReadBlock& b) { b.batch.subsystems["NONE"] = 1; }},
      {"events that a limit left out", [](ReadBlock& b) { b.batch.left_out = 1; }},
      {"a memory of ten megabytes", [](ReadBlock& b) { b.after.carry.resize(10 << 20, 'x'); }},
      {"the memory of a report",
       [](ReadBlock& b) { b.after.carry = "\x08" + std::string(8, '\0') + "any"; }},
      {"the memory of a dump",
       [](ReadBlock& b) { b.after.carry = "\x10\x01" + std::string(7, '\0') + "{"; }},
      {"a host of a megabyte", [](ReadBlock& b) { b.batch.speakers[0].host.resize(1 << 20, 'x'); }},
      {"a function without a name", [](ReadBlock& b) { b.batch.signatures[0].function.clear(); }},
      {"the end of its source", [](ReadBlock& b) { b.batch.end = SourceEnd::closed; }},
      {"kept lines that are none", [](ReadBlock& b) { b.kept_lines = "\xff\xff"; }},
      {"other kept lines", [](ReadBlock& b) { b.kept_lines = b.kept_lines + b.kept_lines; }},
      {"an event with two lines", [](ReadBlock& b) { b.batch.events[0].text += "\nanother"; }},
      {"more speakers than lines", [](ReadBlock& b) { b.batch.speakers.resize(10'000); }},
      {"more events than a reader puts into one",
       [](ReadBlock& b) { b.batch.events.resize(100'000, b.batch.events[0]); }},
      {"kept lines with the beginning of a file",
       [](ReadBlock& b) { b.kept_lines += marks([](LineKeeper& k) { k.begin_file(); }); }},
      {"kept lines that are ended again and again",
       [](ReadBlock& b) {
         b.kept_lines += marks([](LineKeeper& k) {
           for (int i = 0; i < 1000; ++i) k.finish();
         });
       }},
      {"the memory of an open warning",
       [](ReadBlock& b) { b.after.carry = "\x80" + std::string(8, '\0') + "any"; }},
      {"kept lines although it keeps none", [](ReadBlock& b) { b.keeps_lines = false; }},
  };
  ASSERT_TRUE(is_taken(block()));
  for (const Lie& lie : kLies) {
    ReadBlock one = block();
    lie.tell(one);
    EXPECT_FALSE(is_taken(std::move(one))) << lie.what;
  }
}

TEST_F(HostileBlock, IsRefusedWhereverItBreaksOff) {
  const std::string whole = write_block(block(), Cursor{});
  for (std::size_t size = 0; size < whole.size(); size += 1 + size / 50)
    EXPECT_FALSE(read_block(whole.substr(0, size))) << size;
  EXPECT_FALSE(read_block(whole + "x"));
}

TEST(MovedBlock, HoldsOnlyWhatIsNotHeldYet) {
  const std::string& line = kCall;
  Cursor cursor;
  const auto frames = read_at_the_edge(cursor, line + line + line, kNow, nullptr);
  Cursor at;
  ReadBlock block = taken_up(at, frames.value()).at(0);
  move_block(block, 1000, 10);
  leave_out_before(block, 1000 + line.size());
  EXPECT_EQ(block.batch.facts(), 2U);
  EXPECT_EQ(block.batch.from_offset, 1000 + line.size());
  EXPECT_EQ(offset_of(block.batch, block.batch.runs[0].calls[0]), 1000 + line.size());
  EXPECT_EQ(block.after.offset, 1000 + 3 * line.size());
  leave_out_before(block, 1000 + 3 * line.size());
  EXPECT_EQ(block.batch.facts(), 0U);
}

}  // namespace
}  // namespace faultline
