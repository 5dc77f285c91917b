// Spool: what was taken from logs and waits for the server. It is held in memory; what does not fit
// there lies in files, so that a server that is away for long costs no line. Threads may share it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "ship/log_target.h"

namespace faultline {

// A stretch of a log's stream, packed as one frame of zstd.
struct SpooledPiece {
  LogTarget target;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::string boot_time;
  std::string packed;
  std::int64_t segment = 0;  // the file that also holds it; 0: none
};

// Pieces that follow each other: the frames of one body.
struct Shipment {
  LogTarget target;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::string boot_time;
  std::string body;
};

struct SpoolLimits {
  std::uint64_t memory = std::uint64_t{8} << 20;
  std::uint64_t disk = std::uint64_t{256} << 20;
  // Of one log. A log that the server refuses must not take the room of all others.
  std::uint64_t of_a_log = std::uint64_t{64} << 20;
};

class Spool {
 public:
  using Clock = std::chrono::steady_clock;

  // Takes up what an earlier one left in `folder`.
  Spool(std::filesystem::path folder, SpoolLimits limits);

  bool has_room(const LogTarget& target) const;
  void put(SpooledPiece piece);
  // Up to where the stream of a log lies here.
  std::optional<std::uint64_t> end_of(const LogTarget& target) const;

  // The next body to send, of the logs in turn. Nothing is taken out until done() or drop().
  std::optional<Shipment> next();
  void done(const LogTarget& target, std::uint64_t to);
  // Forgets what waits of a log, and gives out nothing of it until restart(), which whoever puts
  // pieces calls when it has heard of it.
  void drop(const LogTarget& target);
  void restart(const LogTarget& target);
  // This log has to wait, others have not.
  void hold(const LogTarget& target, Clock::time_point until);

  bool empty() const;
  std::uint64_t bytes_on_disk() const;
  // Until there may be something to send, or `longest` is over.
  void wait(std::chrono::milliseconds longest);
  void wake();

  // Writes to the disk what is in memory only.
  void save();

 private:
  struct Queue {
    std::deque<SpooledPiece> pieces;
    std::uint64_t end = 0;    // of the stream, those on the disk included
    std::uint64_t bytes = 0;  // packed, in memory and on the disk
    Clock::time_point held_until{};
    // Its pieces on the disk before this place are not wanted any more.
    std::int64_t dropped_segment = 0;
    std::uint64_t dropped_before = 0;
  };
  // A file of pieces. It is deleted when all of them have been read and sent.
  struct Segment {
    std::int64_t number = 0;
    std::uint64_t bytes = 0;
    std::uint64_t read = 0;
    std::uint64_t waiting = 0;  // pieces of it that are in memory
  };

  std::filesystem::path file_of(std::int64_t number) const;
  void find_segments();
  bool append(const SpooledPiece& piece);
  void write_unsaved();
  bool read_piece(Segment& segment, SpooledPiece& piece);
  void refill();
  void into_memory(SpooledPiece piece);
  void forget(const SpooledPiece& piece, Queue& queue);
  void forget_all(const LogTarget& target);
  void delete_segments();
  bool all_read() const;

  const std::filesystem::path folder_;
  const SpoolLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<LogTarget, Queue> queues_;
  std::optional<LogTarget> turn_;  // the log that was sent last
  std::uint64_t in_memory_ = 0;
  Clock::time_point unsaved_since_{};  // of what is in memory only
  std::deque<Segment> segments_;       // oldest first
  std::int64_t next_segment_ = 1;
  std::uint64_t on_disk_ = 0;
};

}  // namespace faultline
