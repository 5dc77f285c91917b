#include "ship/spool.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "logging/log.h"
#include "model/saved_bytes.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSegmentBytes = std::uint64_t{16} << 20;
// Unpacked, of one body.
constexpr std::uint64_t kMostOfABody = std::uint64_t{4} << 20;
// What is in memory only may be lost with us, so it is little and young.
constexpr std::uint64_t kMostUnsaved = std::uint64_t{1} << 20;
constexpr std::chrono::seconds kLongestUnsaved{5};
constexpr std::string_view kSuffix = ".spool";

// Before each piece: the length of what follows, and its digest.
struct PieceHead {
  std::uint64_t bytes = 0;
  std::uint64_t digest = 0;
};

std::string bytes_of(const SpooledPiece& piece) {
  SavedBytesWriter writer;
  writer.text(piece.target.job);
  writer.text(piece.target.host);
  writer.text(piece.target.source);
  writer.number(piece.target.rank);
  writer.number(static_cast<std::int64_t>(piece.from));
  writer.number(static_cast<std::int64_t>(piece.to));
  writer.text(piece.boot_time);
  writer.text(piece.packed);
  return writer.take();
}

bool piece_from(std::string_view bytes, SpooledPiece& piece) {
  SavedBytesReader reader(bytes);
  piece.target.job = reader.text();
  piece.target.host = reader.text();
  piece.target.source = reader.text();
  piece.target.rank = reader.small_number();
  piece.from = static_cast<std::uint64_t>(reader.number());
  piece.to = static_cast<std::uint64_t>(reader.number());
  piece.boot_time = reader.text();
  piece.packed = reader.text();
  return reader.ok() && reader.at_end() && piece.from < piece.to;
}

}  // namespace

Spool::Spool(fs::path folder, SpoolLimits limits) : folder_(std::move(folder)), limits_(limits) {
  find_segments();
}

fs::path Spool::file_of(std::int64_t number) const {
  return folder_ / fmt::format("{}{}", number, kSuffix);
}

// What a crash tore at the end of a file is not counted; its log is read again from there.
void Spool::find_segments() {
  std::error_code error;
  std::vector<std::int64_t> numbers;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.extension() != kSuffix) continue;
    try {
      numbers.push_back(std::stoll(path.stem().string()));
    } catch (const std::exception&) {
    }
  }
  std::ranges::sort(numbers);
  for (const std::int64_t number : numbers) {
    Segment segment{.number = number, .bytes = fs::file_size(file_of(number), error)};
    if (error) continue;
    Segment scan = segment;
    SpooledPiece piece;
    while (read_piece(scan, piece)) {
      Queue& queue = queues_[piece.target];
      queue.end = std::max(queue.end, piece.to);
      queue.bytes += piece.packed.size();
    }
    segment.bytes = scan.read;
    next_segment_ = number + 1;
    on_disk_ += segment.bytes;
    segments_.push_back(segment);
  }
}

bool Spool::has_room(const LogTarget& target) const {
  const std::lock_guard lock(mutex_);
  const auto queue = queues_.find(target);
  if (queue != queues_.end() && queue->second.bytes >= limits_.of_a_log) return false;
  return in_memory_ < limits_.memory && on_disk_ < limits_.disk;
}

void Spool::into_memory(SpooledPiece piece) {
  Queue& queue = queues_[piece.target];
  in_memory_ += piece.packed.size();
  queue.pieces.push_back(std::move(piece));
}

void Spool::put(SpooledPiece piece) {
  const std::lock_guard lock(mutex_);
  Queue& queue = queues_[piece.target];
  queue.end = piece.to;
  queue.bytes += piece.packed.size();
  const Clock::time_point now = Clock::now();
  if (in_memory_ == 0) unsaved_since_ = now;
  if (segments_.empty() && in_memory_ < kMostUnsaved && now - unsaved_since_ < kLongestUnsaved) {
    into_memory(std::move(piece));
  } else {
    write_unsaved();
    if (!append(piece)) {
      say(LogLevel::error, "spool",
          fmt::format("cannot write to {}: what waits for the server is held in memory",
                      folder_.string()));
      into_memory(std::move(piece));
    }
  }
  changed_.notify_all();
}

// Brings to the disk what is in memory only. It comes before all that is written later, so the
// files hold each log without a hole.
void Spool::write_unsaved() {
  if (!segments_.empty()) return;
  for (auto& [target, queue] : queues_) {
    for (SpooledPiece& piece : queue.pieces) {
      if (piece.segment != 0 || !append(piece)) continue;
      piece.segment = segments_.back().number;
      segments_.back().read = segments_.back().bytes;
      ++segments_.back().waiting;
    }
  }
}

bool Spool::all_read() const {
  return segments_.empty() || segments_.back().read == segments_.back().bytes;
}

bool Spool::append(const SpooledPiece& piece) {
  if (segments_.empty() || segments_.back().bytes >= kSegmentBytes) {
    segments_.push_back({.number = next_segment_++});
  }
  Segment& segment = segments_.back();
  const std::string bytes = bytes_of(piece);
  const PieceHead head{bytes.size(), XXH3_64bits(bytes.data(), bytes.size())};
  // Behind what is whole: a crash may have torn what follows it.
  std::ofstream file(file_of(segment.number), segment.bytes == 0
                                                  ? std::ios::binary | std::ios::trunc
                                                  : std::ios::binary | std::ios::in);
  file.seekp(static_cast<std::streamoff>(segment.bytes));
  file.write(reinterpret_cast<const char*>(&head), sizeof head);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.flush();
  if (!file) return false;
  segment.bytes += sizeof head + bytes.size();
  on_disk_ += sizeof head + bytes.size();
  return true;
}

bool Spool::read_piece(Segment& segment, SpooledPiece& piece) {
  std::ifstream file(file_of(segment.number), std::ios::binary);
  file.seekg(static_cast<std::streamoff>(segment.read));
  PieceHead head;
  if (!file.read(reinterpret_cast<char*>(&head), sizeof head)) return false;
  if (head.bytes > segment.bytes - segment.read) return false;
  std::string bytes(head.bytes, '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return false;
  if (XXH3_64bits(bytes.data(), bytes.size()) != head.digest || !piece_from(bytes, piece))
    return false;
  segment.read += sizeof head + head.bytes;
  return true;
}

// Brings the oldest pieces from the disk to memory.
void Spool::refill() {
  for (Segment& segment : segments_) {
    while (segment.read < segment.bytes && in_memory_ < limits_.memory) {
      const std::uint64_t at = segment.read;
      SpooledPiece piece;
      if (!read_piece(segment, piece)) {
        say(LogLevel::error, "spool",
            fmt::format("{} is damaged; its rest is lost", file_of(segment.number).string()));
        segment.read = segment.bytes;
        break;
      }
      Queue& queue = queues_[piece.target];
      if (std::pair(segment.number, at) < std::pair(queue.dropped_segment, queue.dropped_before)) {
        queue.bytes -= std::min<std::uint64_t>(queue.bytes, piece.packed.size());
        continue;
      }
      piece.segment = segment.number;
      ++segment.waiting;
      into_memory(std::move(piece));
    }
  }
  delete_segments();
}

void Spool::delete_segments() {
  std::erase_if(segments_, [&](const Segment& segment) {
    if (segment.read < segment.bytes || segment.waiting > 0) return false;
    std::error_code ignored;
    fs::remove(file_of(segment.number), ignored);
    on_disk_ -= std::min(on_disk_, segment.bytes);
    return true;
  });
}

// Once it is sent or not wanted any more.
void Spool::forget(const SpooledPiece& piece, Queue& queue) {
  in_memory_ -= piece.packed.size();
  queue.bytes -= std::min<std::uint64_t>(queue.bytes, piece.packed.size());
  for (Segment& segment : segments_)
    if (segment.number == piece.segment) --segment.waiting;
}

std::optional<std::uint64_t> Spool::end_of(const LogTarget& target) const {
  const std::lock_guard lock(mutex_);
  const auto queue = queues_.find(target);
  if (queue == queues_.end() || queue->second.bytes == 0) return std::nullopt;
  return queue->second.end;
}

std::optional<Shipment> Spool::next() {
  const std::lock_guard lock(mutex_);
  refill();
  const Clock::time_point now = Clock::now();
  const auto ready = [&](const auto& entry) {
    return !entry.second.pieces.empty() && entry.second.held_until <= now;
  };
  auto chosen = queues_.end();
  if (turn_) chosen = std::find_if(queues_.upper_bound(*turn_), queues_.end(), ready);
  if (chosen == queues_.end()) chosen = std::ranges::find_if(queues_, ready);
  if (chosen == queues_.end()) return std::nullopt;
  turn_ = chosen->first;
  Shipment shipment{.target = chosen->first};
  for (const SpooledPiece& piece : chosen->second.pieces) {
    if (shipment.body.empty()) {
      shipment.from = piece.from;
      shipment.boot_time = piece.boot_time;
    } else if (piece.from != shipment.to || piece.boot_time != shipment.boot_time ||
               piece.to - shipment.from > kMostOfABody) {
      break;
    }
    shipment.to = piece.to;
    shipment.body += piece.packed;
  }
  return shipment;
}

void Spool::done(const LogTarget& target, std::uint64_t to) {
  const std::lock_guard lock(mutex_);
  Queue& queue = queues_[target];
  while (!queue.pieces.empty() && queue.pieces.front().to <= to) {
    forget(queue.pieces.front(), queue);
    queue.pieces.pop_front();
  }
  queue.held_until = {};
  delete_segments();
}

void Spool::forget_all(const LogTarget& target) {
  Queue& queue = queues_[target];
  for (const SpooledPiece& piece : queue.pieces) forget(piece, queue);
  queue.pieces.clear();
  if (segments_.empty()) return;
  queue.dropped_segment = segments_.back().number;
  queue.dropped_before = segments_.back().bytes;
  delete_segments();
}

void Spool::drop(const LogTarget& target) {
  const std::lock_guard lock(mutex_);
  forget_all(target);
  queues_[target].held_until = Clock::time_point::max();
}

void Spool::restart(const LogTarget& target) {
  const std::lock_guard lock(mutex_);
  forget_all(target);
  queues_[target].held_until = {};
}

void Spool::hold(const LogTarget& target, Clock::time_point until) {
  const std::lock_guard lock(mutex_);
  queues_[target].held_until = until;
}

bool Spool::empty() const {
  const std::lock_guard lock(mutex_);
  return in_memory_ == 0 && all_read();
}

std::uint64_t Spool::bytes_on_disk() const {
  const std::lock_guard lock(mutex_);
  return on_disk_;
}

void Spool::wait(std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, longest);
}

void Spool::wake() { changed_.notify_all(); }

void Spool::save() {
  const std::lock_guard lock(mutex_);
  write_unsaved();
}

}  // namespace faultline
