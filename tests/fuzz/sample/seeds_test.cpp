// The seeds of targets that begin with a check which hardly any bytes pass: they must pass it, or
// fuzzing tries nothing behind it. UPDATE_GOLDEN=1 writes those of blocks and batches anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/block_bytes.h"
#include "ingest/block_frames.h"
#include "ingest/edge_reader.h"
#include "ingest/reader.h"
#include "ingest/unpack.h"
#include "model/batch_bytes.h"
#include "parsers/torch/pickle.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 8192;  // what ./dev fuzz reads of a seed

std::string bytes_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

fs::path seeds_of(std::string_view target) {
  return fs::path(TESTS_DIR) / "fuzz" / "seeds" / target;
}

void write_seed(std::string_view target, const std::string& name, std::string_view bytes) {
  if (bytes.size() > kMostBytes) return;
  fs::create_directories(seeds_of(target));
  std::ofstream(seeds_of(target) / name, std::ios::binary) << bytes;
}

// What readers make of golden logs.
void write_seeds() {
  constexpr Timestamp kNow = Timestamp(std::chrono::hours(24 * 21'000));
  for (const char* folder : {"/parsers/golden", "/ingest/golden"})
    for (const auto& file : fs::recursive_directory_iterator(std::string(TESTS_DIR) + folder)) {
      if (!file.path().filename().string().starts_with("input")) continue;
      const std::string name = file.path().parent_path().filename();
      const std::string text = bytes_of(file.path());
      Reader reader(Cursor{}, kNow);
      reader.feed(text);
      reader.close();
      write_seed("batch_codec_fuzz", name, write_batch(reader.take()));
      Cursor cursor;
      const auto frames = read_at_the_edge(cursor, text, kNow, nullptr);
      if (!frames) continue;
      BlockFrames blocks;
      ASSERT_TRUE(blocks.feed(*frames, [&](std::string_view block) -> Result<void> {
        write_seed("block_fuzz", name, block);
        return {};
      }));
    }
}

class Nothing : public FileVisitor {
 public:
  void open(std::string_view) override {}
  void bytes(std::string_view) override {}
  void unreadable(std::uint64_t bytes, std::string_view) override { unread += bytes; }
  void close() override {}
  std::uint64_t unread = 0;
};

struct Seeds {
  const char* target;
  const char* ending;  // of their names; other files are near misses
  std::function<bool(std::string_view)> passes;
};

TEST(FuzzSeeds, PassTheFirstCheckOfTheirTarget) {
  if (std::getenv("UPDATE_GOLDEN") != nullptr) write_seeds();
  const Seeds all[] = {
      {"batch_codec_fuzz", "",
       [](std::string_view bytes) { return read_batch(bytes).has_value(); }},
      {"block_fuzz", "", [](std::string_view bytes) { return read_block(bytes).has_value(); }},
      {"pickle_fuzz", ".pickle",
       [](std::string_view bytes) { return read_pickle(bytes).outcome == Pickle::Outcome::whole; }},
      {"flight_recorder_fuzz", ".pickle",
       [](std::string_view bytes) { return read_pickle(bytes).outcome == Pickle::Outcome::whole; }},
      {"unpack_fuzz", "",
       [](std::string_view bytes) {
         Nothing visitor;
         Unpacker unpacker("x", Encoding::detect, visitor);
         return unpacker.feed(bytes.substr(1)).has_value() && unpacker.finish().has_value();
       }},
  };
  for (const Seeds& each : all) {
    std::size_t checked = 0;
    ASSERT_TRUE(fs::is_directory(seeds_of(each.target))) << each.target;
    for (const auto& file : fs::directory_iterator(seeds_of(each.target))) {
      if (!file.path().string().ends_with(each.ending)) continue;
      const std::string bytes = bytes_of(file.path());
      EXPECT_TRUE(each.passes(bytes)) << file.path();
      EXPECT_LE(bytes.size(), kMostBytes) << file.path() << " is cut off when it is fuzzed";
      ++checked;
    }
    EXPECT_GE(checked, 8u) << each.target;
  }
}

}  // namespace
}  // namespace faultline
