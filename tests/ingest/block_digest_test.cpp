#include "ingest/block_digest.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

void expect_block(BlockDigest& block, bool everything, std::string_view bytes) {
  const BlockDigests digests = block.cut(everything);
  EXPECT_EQ(digests.all, digest_of(bytes));
  EXPECT_EQ(digests.head, digest_of(bytes.substr(0, kHeadBytes)));
}

TEST(BlockDigest, CoversWholeLinesHoweverTheBytesArrive) {
  const std::string first = "one\ntwo\n" + std::string(300, 'x') + "\n";
  const std::string second = "begun in the first block\nand more\n";
  const std::string torn = "torn";
  for (std::size_t piece = 1; piece < 50; ++piece) {
    SCOPED_TRACE(piece);
    BlockDigest block;
    const auto add = [&](std::string_view bytes) {
      for (std::size_t at = 0; at < bytes.size(); at += piece) block.add(bytes.substr(at, piece));
    };
    add(first + second.substr(0, 10));
    EXPECT_EQ(block.whole_line_bytes(), first.size());
    expect_block(block, false, first);
    EXPECT_EQ(block.bytes(), 10U);
    add(second.substr(10) + torn);
    expect_block(block, false, second);
    expect_block(block, true, torn);
    EXPECT_EQ(block.bytes(), 0U);
    add("next\n");
    expect_block(block, false, "next\n");
  }
}

}  // namespace
}  // namespace faultline
