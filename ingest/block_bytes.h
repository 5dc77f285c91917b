// A block as bytes: as an agent sends it to a server. Its numbers are counted from where it begins,
// so it says nothing about its place in the source, nor about the source itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/read_block.h"
#include "model/result.h"

namespace faultline {

struct SentBlock {
  std::uint64_t begins_at = 0;  // mark_of_state() of the cursor with which it was read
  ReadBlock block;              // as if the source began with it: move_block() gives it its place
};

// Blocks that follow each other were read by one reader, or by two that remember the same.
std::uint64_t mark_of_state(std::uint64_t lines, std::string_view carry);

// `before`: the cursor with which the block was read.
std::string write_block(ReadBlock block, const Cursor& before);

// Takes any bytes. A block that it returns is safe to store and to fold (check_block()).
Result<SentBlock> read_block(std::string_view bytes);

// Gives a block that begins at offset 0 its place.
void move_block(ReadBlock& block, std::uint64_t offset, std::uint64_t lines);

// Leaves out what begins before this offset of a block that has its place: it is held already.
void leave_out_before(ReadBlock& block, std::uint64_t offset);

}  // namespace faultline
