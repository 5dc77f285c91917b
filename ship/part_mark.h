// PartMark: knows a file again by what was read of it, under whatever name it lies now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace faultline {

struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileId&) const = default;
};

// A number for some bytes of a file, which may be secret themselves.
struct BytesMark {
  std::size_t bytes = 0;
  std::uint64_t digest = 0;
  bool operator==(const BytesMark&) const = default;
};
BytesMark mark_of(std::string_view bytes);

struct PartMark {
  static constexpr std::size_t kHead = 256;
  static constexpr std::size_t kTail = 64;

  FileId id;
  std::uint64_t begin = 0;  // where its first byte lies in the stream of the log
  // Where it begins in the file. A program that does not append goes on behind a hole if its file
  // is truncated.
  std::uint64_t hole = 0;
  std::uint64_t read = 0;  // how many of its bytes were taken
  BytesMark head;          // its first kHead bytes, also if they are not taken yet
  BytesMark tail;          // the last kTail that were taken
  bool operator==(const PartMark&) const = default;

  std::uint64_t end() const { return begin + read; }
};

// What a source of bytes needs to go on after a restart of the agent.
using PartMarks = std::vector<PartMark>;

}  // namespace faultline
