// Spool: what was taken from logs and waits for the server. A little of it is held in memory; what
// does not fit there lies in files, so that a server that is away for long costs no line. Each log
// has files of its own: one that is refused holds up no other. Threads may share it.
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

// A stretch of a log's stream, packed as one frame of zstd: its bytes, or what we read in them.
struct SpooledPiece {
  LogTarget target;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::string boot_time;
  std::string packed;
  bool final = false;  // nothing follows it
  std::string reader;  // the version of the reader that made blocks of the bytes; else empty
};

// Pieces that follow each other: the frames of one body.
struct Shipment {
  LogTarget target;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::string boot_time;
  std::string body;
  bool final = false;  // nothing follows it
  std::string reader;
};

struct SpoolLimits {
  std::uint64_t disk = std::uint64_t{256} << 20;
  // What may be in memory only: it is lost if we are killed, and then read again from the files.
  std::uint64_t memory = std::uint64_t{1} << 20;
  std::chrono::milliseconds longest_in_memory{5000};
  std::uint64_t of_a_refused_log = std::uint64_t{4} << 20;
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

  // The next body to send, of the logs in turn. Nothing is taken out until done().
  std::optional<Shipment> next();
  void done(const LogTarget& target, std::uint64_t to);
  // This log has to wait, others have not.
  void hold(const LogTarget& target, Clock::time_point until);

  // Forgets what waits of a log, which begins again.
  void drop(const LogTarget& target);
  // What waits of a log gets another place: another target, and offsets from `from` on. Returns
  // where it ends then. Of what we have read, `blocks` says whether it is moved or forgotten.
  enum class Blocks { moved, forgotten };
  std::uint64_t move(const LogTarget& target, const LogTarget& to, std::uint64_t from,
                     Blocks blocks = Blocks::moved);

  bool empty() const;
  std::uint64_t bytes_on_disk() const;
  // Until there may be something to send, or `longest` is over.
  void wait(std::chrono::milliseconds longest);
  void wake();

  // Writes to the disk what is in memory only.
  void save();

 private:
  // A file of pieces. It is deleted when all of them are sent.
  struct Segment {
    std::string name;
    std::uint64_t bytes = 0;
    std::uint64_t read = 0;
  };
  struct Queue {
    std::deque<SpooledPiece> in_memory;  // behind what lies in the files
    std::deque<Segment> files;           // oldest first
    std::uint64_t end = 0;               // of the stream
    std::uint64_t bytes = 0;             // packed
    Clock::time_point held_until{};
  };

  void find_files();
  void put_into(Queue& queue, SpooledPiece piece);
  void write_unsaved();
  bool append(Queue& queue, const SpooledPiece& piece);
  bool read_piece(Segment& segment, SpooledPiece& piece) const;
  void delete_front(Queue& queue);
  void forget(Queue& queue);
  // Gives the pieces in their order until `use` returns false, which leaves its piece.
  template <class Use>
  void take_while(Queue& queue, const Use& use);

  const std::filesystem::path folder_;
  const SpoolLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<LogTarget, Queue> queues_;  // that are not empty, or are held
  std::optional<LogTarget> turn_;      // the log that was sent last
  std::uint64_t in_memory_ = 0;
  Clock::time_point unsaved_since_{};
  std::uint64_t on_disk_ = 0;
  std::optional<Clock::time_point> disk_failed_at_;  // nothing could be written since
  std::uint64_t next_file_ = 1;
};

}  // namespace faultline
