// Unpacker: turns bytes as they were sent or stored into files. It inflates gzip, zstd, xz and
// bzip2, takes tar and zip archives apart, and inflates their members, too. It turns text of 16 or
// 32 bits into UTF-8, and a JSON list of log records into one record on each line. It recognises
// formats by the bytes, never by a name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "model/result.h"

namespace faultline {

// Gets each file as it comes; bytes may come in any number of pieces.
class FileVisitor {
 public:
  virtual ~FileVisitor() = default;
  virtual void open(std::string_view name) = 0;
  virtual void bytes(std::string_view piece) = 0;
  virtual void close() = 0;

  // Called whenever something is inflated, even if nobody reads it. False ends the unpacking, as an
  // error does.
  virtual bool wants_more() { return true; }

  // The open file has a form that cannot be read, or is packed in one. `bytes`: its size, of which
  // nothing came; `hint`: what to do about it.
  virtual void unreadable(std::uint64_t bytes, std::string_view hint) = 0;
};

// What the sender says of the outermost layer (Content-Encoding). Inner layers are always detected.
enum class Encoding { detect, gzip, zstd, xz, bzip2 };

class Unpacker {
 public:
  // Beyond kFreeGrowth, no sensible file grows to more than this many times its size; a bomb does.
  static constexpr std::uint64_t kMaxGrowth = 2000;
  static constexpr std::uint64_t kFreeGrowth = std::uint64_t{64} << 20;
  static constexpr int kMaxZstdWindowLog = 26;                            // 64 MiB
  static constexpr std::uint64_t kMaxXzMemory = std::uint64_t{80} << 20;  // xz -9 needs 65 MiB
  static constexpr std::uint64_t kMaxFiles =
      100'000;  // in one archive: each costs its reader memory

  // `name` is what a single file is called; members of an archive are "name/member".
  Unpacker(std::string name, Encoding encoding, FileVisitor& visitor);
  ~Unpacker();

  // After an error everything that could be read has been given to the visitor and the file is
  // closed; feed nothing more and do not call finish(). Empty input is one empty file.
  Result<void> feed(std::string_view bytes);

  // An error if the data breaks off, or if a member of an archive could not be read to its end; the
  // members behind it were read all the same.
  Result<void> finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace faultline
