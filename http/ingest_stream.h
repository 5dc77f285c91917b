// IngestStream: takes one body of /api/v1/ingest (plain, compressed, archive, multipart) apart into
// its files. Knows nothing of the network.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/held_bodies.h"
#include "http/multipart.h"
#include "http/problem.h"
#include "http/threads.h"
#include "ingest/block_frames.h"
#include "ingest/file_names.h"
#include "ingest/unpack.h"
#include "service/commit_tracker.h"
#include "service/file_stream.h"
#include "service/services.h"

namespace faultline {

struct IngestParameters {
  Source source;
  bool source_given = false;  // false: source.name is our default for this sender
  std::optional<std::uint64_t> offset;
  bool final = false;
  std::optional<Timestamp> boot_time;  // of the host whose kernel log this is
  Encoding encoding = Encoding::detect;
  std::optional<std::string> boundary;  // of multipart/form-data
  // The body holds blocks that the sender's reader made (ingest/block_frames.h). Needs an offset
  // and a source.
  bool is_read = false;
  bool whatever_came_before = false;  // see BodyStart
};

class IngestStream : FileVisitor, PartVisitor {
 public:
  // `wake` is called from other threads whenever a commit is done or the source was taken over.
  IngestStream(IngestParameters parameters, Services& services, LongReads& long_reads,
               HeldBodies& held_bodies, std::function<void()> wake);
  ~IngestStream() override;

  // How many bytes to feed before checking again whether too many commits wait: few while they
  // unpack to many more.
  std::size_t slice() const;

  // A problem ends the body: call abandon() then, not finish().
  std::optional<Problem> feed(std::string_view bytes);

  // The body is complete.
  std::optional<Problem> finish();

  // The body will not be completed: whole lines stay.
  void abandon();

  // The sender has paused.
  void flush(bool for_long);
  // Whether more of the body may be held in memory now. Nothing is fed until it may.
  bool may_hold_more();
  bool pending() const { return file_ && file_->pending(); }

  // Set if the body cannot go on, whatever else comes: the source was taken over, or the store
  // refuses.
  std::optional<Problem> obstacle() const;

  std::size_t commits_in_flight() const { return tracker_->in_flight(); }

  // Where the body's own source stands once all commits are done; nothing for a body of several
  // files or if a commit failed.
  std::optional<std::uint64_t> next_offset() const;

  const std::string& source() const { return parameters_.source.name; }
  bool several_files() const { return several_; }
  const std::vector<FileReceipt>& receipts() const { return receipts_; }

 private:
  void open(std::string_view name) override;
  void bytes(std::string_view piece) override;
  void close() override;
  bool wants_more() override;
  void unreadable(std::uint64_t bytes, std::string_view hint) override;
  void open_part(std::string_view filename) override;
  void part_bytes(std::string_view piece) override;
  void close_part() override;

  void open_file(const std::string& name);
  Problem taken_over() const;
  static Problem holds_too_much();
  void start_file(std::shared_ptr<SourceLease> lease);
  void choose_source();
  void take_blocks(std::string_view piece);
  bool end_blocks(bool complete);
  void keep_block(const Result<void>& outcome);
  void end_file(bool complete);
  void keep(const Result<void>& outcome);
  void tell_held();
  std::optional<Problem> tells_too_much() const;
  std::optional<Problem> takes_too_long();

  IngestParameters parameters_;
  Services& services_;
  LongReads& long_reads_;
  std::optional<LongReads::Turn> turn_;  // of the piece that is being read
  std::function<void()> wake_;
  HeldBodies::Share held_;
  std::shared_ptr<CommitTracker> tracker_;
  std::shared_ptr<SourceLease> lease_;  // of a source that the sender named
  bool choosing_ = false;  // the sender named no source, so the first bytes decide which it is
  std::string head_;       // those bytes
  std::string name_;       // of the file, as the sender or its archive calls it
  FileNames names_;
  std::optional<MultipartParser> multipart_;
  std::optional<Unpacker> unpacker_;
  std::optional<FileStream> file_;
  BlockFrames blocks_;
  struct Unreadable {
    std::uint64_t bytes;
    std::string hint;
  };
  std::optional<Unreadable> unreadable_;  // of the file that is open
  std::vector<FileReceipt> receipts_;
  std::optional<Problem> problem_;
  std::optional<std::uint64_t> next_offset_;
  std::uint64_t fed_ = 0;  // bytes as they came; produced_: bytes after unpacking
  std::uint64_t produced_ = 0;
  std::uint64_t weight_ = 0;  // of the events of files that have ended: weight_of()
  bool several_ = false;
  bool complete_ = false;  // all of the body came
};

}  // namespace faultline
