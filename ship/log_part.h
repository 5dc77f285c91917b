// LogPart: one file of a log, read from where reading stood. It notices if the file was written
// anew below what was read.
#pragma once

#include <ctime>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "ship/part_mark.h"

namespace faultline {

// An open file, closed at the end.
class OpenDescriptor {
 public:
  OpenDescriptor() = default;
  explicit OpenDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~OpenDescriptor();
  OpenDescriptor(OpenDescriptor&& other) noexcept;
  OpenDescriptor& operator=(OpenDescriptor&& other) noexcept;
  int get() const { return descriptor_; }
  bool ok() const { return descriptor_ >= 0; }
  // The same file, to be closed by itself.
  OpenDescriptor again() const;

 private:
  int descriptor_ = -1;
};

class LogPart {
 public:
  enum class Found { bytes, end, rewritten };

  // From the first byte, which lies at `begin` of the stream. Null: the file is not open.
  static std::optional<LogPart> open(OpenDescriptor file, std::uint64_t begin);
  // The file holds what `mark` tells of it, so reading goes on `position` bytes after its first.
  static std::optional<LogPart> reopen(OpenDescriptor file, const PartMark& mark,
                                       std::uint64_t position);

  // Appends up to `most` further bytes to `bytes`.
  Found take(std::size_t most, std::string& bytes);

  // Of a file that nobody writes to any more: a copy, something unpacked.
  bool is_copy() const { return is_copy_; }
  void set_copy() { is_copy_ = true; }

  // Whether the file is, byte for byte as far as it is compared, the one that a mark tells of and
  // that ended with the mark.
  bool is_all_of(const PartMark& mark) const;
  // The beginning and the size of what lies there now.
  PartMark mark_of_file() const;

  // Whether what the mark tells of lies in the file, and whether all of it was read.
  bool holds(const PartMark& mark) const;
  bool has_read(const PartMark& mark) const {
    return hole_ + read_ >= mark.hole + mark.read && holds(mark);
  }

  // False: it was written anew.
  bool holds_what_was_read() const;

  // It begins as a packed file or an archive does, which a server would unpack.
  bool looks_packed() const;

  // How many bytes can be taken now.
  std::uint64_t available() const;
  bool ends_with_newline() const { return tail_.empty() || tail_.back() == '\n'; }
  bool is_deleted() const;
  // Of its last change, in seconds of the system's clock.
  double changed_at() const;
  // The same of what was read, also if it was written anew since.
  double read_as_of() const;

  PartMark mark() const;
  const FileId& id() const { return id_; }
  std::uint64_t begin() const { return begin_; }
  bool is_begun() const { return read_ > 0; }
  std::uint64_t position() const { return begin_ + read_; }
  // The next byte lies there in the stream.
  void go_on_at(std::uint64_t position) { begin_ = position - read_; }

 private:
  explicit LogPart(OpenDescriptor file);
  bool read_again(const PartMark& mark, std::uint64_t position);
  void pass_hole();

  OpenDescriptor file_;
  FileId id_;
  std::uint64_t begin_ = 0;
  std::uint64_t hole_ = 0;  // the file's bytes before the first that counts
  std::uint64_t read_ = 0;
  // An earlier reader may have read further: what it knew tells the file from more others.
  PartMark known_by_;
  bool is_copy_ = false;
  timespec looked_at_{};   // the file's time of change when it was at its end
  timespec read_as_of_{};  // and when it was read last
  std::string head_;
  std::string tail_;
};

}  // namespace faultline
