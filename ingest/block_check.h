// Whether a block that a stranger sent says only what a reader can say: so that whoever stores,
// folds or shows it may rely on what the Reader promises.
#pragma once

#include <cstddef>
#include <string_view>

#include "ingest/read_block.h"
#include "model/result.h"

namespace faultline {

// Of a block: the bytes of the log, what it carries on, and the block itself before it is packed.
inline constexpr std::size_t kMostBytesOfASentBlock = std::size_t{4} << 20;
inline constexpr std::size_t kMostCarriedBySentBlock = std::size_t{2} << 20;
inline constexpr std::size_t kMostBytesOnTheWire = std::size_t{8} << 20;

// Whether what a reader carries on is of lines, and not of a dump, a trace or a report that is not
// complete. What these remember is not meant to come from strangers.
bool carries_only_lines(std::string_view carry);

// The block begins at offset 0, as read_block() gives it. The error says only what is wrong: "has
// an event of no speaker".
Result<void> check_block(const ReadBlock& block);

// Whether a block that has its place tells only of lines of its source.
bool is_within_its_source(const ReadBlock& block);

}  // namespace faultline
