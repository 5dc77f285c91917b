#include "ingest/unpack/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "unpacking.h"
#include "workshop.h"

namespace faultline {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// Gigabytes of zeros, packed by zstd.
std::string zstd_bomb(std::uint64_t bytes) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  const std::string zeros(std::size_t{1} << 20, '\0');
  std::string bomb;
  std::string buffer(ZSTD_CStreamOutSize(), '\0');
  for (std::uint64_t done = 0; done < bytes; done += zeros.size()) {
    ZSTD_inBuffer in{zeros.data(), zeros.size(), 0};
    const bool last = done + zeros.size() >= bytes;
    bool finished = false;
    while (!finished) {
      ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
      const std::size_t left =
          ZSTD_compressStream2(context, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      bomb.append(buffer, 0, out.pos);
      finished = last ? left == 0 : in.pos == in.size;
    }
  }
  ZSTD_freeCCtx(context);
  return bomb;
}

TEST(Limits, StopsADecompressionBomb) {
  std::uint64_t read = 0;
  struct Counter : FileVisitor {
    explicit Counter(std::uint64_t& counted) : count(counted) {}
    void open(std::string_view) override {}
    void bytes(std::string_view piece) override { count += piece.size(); }
    void close() override {}
    void unreadable(std::uint64_t, std::string_view) override {}
    std::uint64_t& count;
  } counter(read);
  const std::string bomb = zstd_bomb(std::uint64_t{3} << 30);
  ASSERT_LT(bomb.size(), std::size_t{1} << 20);
  Unpacker unpacker("log", Encoding::zstd, counter);
  const Result<void> result = unpacker.feed(bomb);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, Error::Kind::too_large);
  EXPECT_THAT(result.error().message, HasSubstr("grows more than 2000 times its size"));
  EXPECT_LE(read, std::max(Unpacker::kFreeGrowth, bomb.size() * Unpacker::kMaxGrowth));
}

TEST(Limits, StopsABombInsideAnArchive) {
  Workshop workshop;
  workshop.write("bomb.zst", zstd_bomb(std::uint64_t{1} << 30));
  workshop.write("last.log", kLine);
  const std::string archive = workshop.make("tar -cf out bomb.zst last.log");
  const Outcome outcome = unpack(archive);
  EXPECT_EQ(outcome.kind, Error::Kind::too_large);
  EXPECT_EQ(outcome.files.size(), 1U);
}

TEST(Limits, RefusesAZstdWindowThatWouldEatTheMemory) {
  const Outcome outcome = unpack(zstd(many_lines(1 << 20), 27));
  EXPECT_EQ(outcome.kind, Error::Kind::too_large);
  EXPECT_EQ(
      outcome.error,
      "the zstd data needs a window of more than 64 MiB to be read; compress it again without "
      "--long and with a level below 20");
  EXPECT_EQ(unpack(zstd(many_lines(1 << 20), 26)).error, "");
}

// A header without data, which is enough to be refused.
std::string xz_with_dictionary(std::uint32_t size) {
  lzma_options_lzma options{};
  lzma_lzma_preset(&options, 0);
  options.dict_size = size;
  lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  lzma_stream_flags flags{};
  flags.check = LZMA_CHECK_CRC32;
  lzma_block block{};
  block.check = LZMA_CHECK_CRC32;
  block.compressed_size = block.uncompressed_size = LZMA_VLI_UNKNOWN;
  block.filters = filters;
  std::string packed(LZMA_STREAM_HEADER_SIZE, '\0');
  EXPECT_EQ(lzma_stream_header_encode(&flags, reinterpret_cast<std::uint8_t*>(packed.data())),
            LZMA_OK);
  EXPECT_EQ(lzma_block_header_size(&block), LZMA_OK);
  std::string header(block.header_size, '\0');
  EXPECT_EQ(lzma_block_header_encode(&block, reinterpret_cast<std::uint8_t*>(header.data())),
            LZMA_OK);
  return packed + header;
}

TEST(Limits, RefusesAnXzDictionaryThatWouldEatTheMemory) {
  const Outcome outcome = unpack(xz_with_dictionary(std::uint32_t{256} << 20));
  EXPECT_EQ(outcome.kind, Error::Kind::too_large);
  EXPECT_THAT(outcome.error, HasSubstr("needs more than 80 MiB of memory to be read"));
  EXPECT_THAT(unpack(xz_with_dictionary(std::uint32_t{64} << 20)).error, HasSubstr("breaks off"));
}

TEST(Limits, StopsBombsOfXzBzip2AndZip) {
  Workshop workshop;
  for (const char* packer : {"xz -0", "bzip2", "zip -q -1 - -"}) {
    SCOPED_TRACE(packer);
    // Zip and xz alone do not pack so well, so gzip packs their output again.
    const std::string bomb =
        workshop.make("head -c 290000000 /dev/zero | " + std::string(packer) + " | gzip -9 > out");
    std::uint64_t read = 0;
    struct Counter : FileVisitor {
      explicit Counter(std::uint64_t& counted) : count(counted) {}
      void open(std::string_view) override {}
      void bytes(std::string_view piece) override { count += piece.size(); }
      void close() override {}
      void unreadable(std::uint64_t, std::string_view) override {}
      std::uint64_t& count;
    } counter(read);
    Unpacker unpacker("log", Encoding::detect, counter);
    const Result<void> result = unpacker.feed(bomb);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, Error::Kind::too_large);
    EXPECT_LE(read, std::max(Unpacker::kFreeGrowth, bomb.size() * Unpacker::kMaxGrowth));
  }
}

TEST(Limits, RefusesAnArchiveOfCountlessFiles) {
  Workshop workshop;
  workshop.write("e", "");
  const std::string header = workshop.make("tar --format=ustar -cf out e").substr(0, 512);
  std::string archive;
  for (std::uint64_t i = 0; i <= Unpacker::kMaxFiles; ++i) archive += header;
  const Outcome outcome = unpack(archive);
  EXPECT_EQ(outcome.kind, Error::Kind::too_large);
  EXPECT_EQ(outcome.error, "in e: more than 100000 files in one archive; split it");
  EXPECT_EQ(outcome.files.size(), Unpacker::kMaxFiles);
}

TEST(Limits, ComesToAnEndInDataThatIsNestedWithoutEnd) {
  std::string packed = kLine;
  for (int i = 0; i < 6; ++i) packed = gzip(packed);
  EXPECT_EQ(unpack(packed), (Outcome{{{"log", gzip(gzip(kLine))}}, "", {}}))
      << "four layers come off";
}

}  // namespace
}  // namespace faultline
