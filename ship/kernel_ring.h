// KernelRing: the kernel's ring buffer, /dev/kmsg, as a source that lasts as long as the boot.
#pragma once

#include <deque>
#include <string>
#include <utility>

#include "ship/log_part.h"
#include "ship/log_reader.h"

namespace faultline {

class KernelRing : public LogReader {
 public:
  // saved.path: the device. Its marks: the sequence number of a record as inode, and where it
  // begins in the stream.
  KernelRing(ReaderState saved, std::uint64_t start, std::string boot_time);

  bool ok() const { return device_.ok(); }
  std::optional<StreamPiece> take(std::size_t most, bool hurry) override;
  bool at_end() const override { return at_end_; }
  bool rewind(std::uint64_t offset) override;
  void go_on_at(std::uint64_t offset) override;
  void rename(LogTarget target) override { saved_.target = std::move(target); }
  bool pass_held(std::uint64_t offset, const std::optional<HeldProof>& proof) override;
  void acknowledge(std::uint64_t offset) override;
  ReaderState saved() const override { return saved_; }
  const LogTarget& target() const override { return saved_.target; }
  std::string boot_time() const override { return boot_time_; }

 private:
  void open_device();
  bool read_record(std::string& record);

  ReaderState saved_;
  std::string boot_time_;
  OpenDescriptor device_;
  std::uint64_t next_ = 0;     // in the stream
  std::uint64_t skip_to_ = 0;  // records before this sequence number were taken
  bool at_end_ = false;
};

// What names a boot of this host, and when it was. Empty if the system does not tell.
std::string boot_id();
std::string boot_time_of_host();

}  // namespace faultline
