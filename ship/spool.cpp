#include "ship/spool.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "logging/log.h"
#include "model/saved_bytes.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kBetweenTries{10};
constexpr std::uint64_t kSegmentBytes = std::uint64_t{16} << 20;
// Unpacked, of one body.
constexpr std::uint64_t kMostOfABody = std::uint64_t{4} << 20;
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
  writer.number(piece.final ? 1 : 0);
  // An older agent does not know this, and reads the log again.
  if (!piece.reader.empty()) writer.text(piece.reader);
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
  piece.final = !reader.at_end() && reader.number() != 0;
  piece.reader = reader.at_end() ? std::string() : std::string(reader.text());
  return reader.ok() && reader.at_end() && piece.from < piece.to;
}

std::string name_of_file(std::uint64_t number) { return fmt::format("{:012}{}", number, kSuffix); }

}  // namespace

Spool::Spool(fs::path folder, SpoolLimits limits) : folder_(std::move(folder)), limits_(limits) {
  find_files();
}

// What a crash tore at the end of a file is not counted; its log is read again from there.
void Spool::find_files() {
  std::error_code error;
  std::set<std::string> names;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == kSuffix) names.insert(entry->path().filename().string());
  for (const std::string& name : names) {
    next_file_ = std::max<std::uint64_t>(next_file_, std::strtoull(name.c_str(), nullptr, 10) + 1);
    Segment segment{.name = name, .bytes = fs::file_size(folder_ / name, error)};
    SpooledPiece piece;
    Queue* queue = nullptr;
    while (!error && read_piece(segment, piece)) {
      queue = &queues_[piece.target];
      queue->end = std::max(queue->end, piece.to);
      queue->bytes += piece.packed.size();
    }
    segment.bytes = std::exchange(segment.read, 0);
    on_disk_ += segment.bytes;
    if (queue != nullptr)
      queue->files.push_back(std::move(segment));
    else
      fs::remove(folder_ / name, error);
  }
}

bool Spool::has_room(const LogTarget& target) const {
  const std::lock_guard lock(mutex_);
  const auto queue = queues_.find(target);
  if (queue != queues_.end() && queue->second.held_until > Clock::now() &&
      queue->second.bytes >= limits_.of_a_refused_log)
    return false;
  // The disk is tried again with a piece from time to time.
  constexpr std::uint64_t kMostWhileTrying = 8;
  if (disk_failed_at_ && in_memory_ >= limits_.memory &&
      (Clock::now() - *disk_failed_at_ < kBetweenTries ||
       in_memory_ >= kMostWhileTrying * limits_.memory))
    return false;
  return on_disk_ + in_memory_ < limits_.disk;
}

void Spool::put(SpooledPiece piece) {
  const std::lock_guard lock(mutex_);
  Queue& queue = queues_[piece.target];
  queue.end = piece.to;
  put_into(queue, std::move(piece));
  changed_.notify_all();
}

void Spool::put_into(Queue& queue, SpooledPiece piece) {
  const Clock::time_point now = Clock::now();
  const std::uint64_t bytes = piece.packed.size();
  queue.bytes += bytes;
  // What comes later must not overtake what lies on the disk.
  if (!queue.files.empty() && queue.in_memory.empty() && append(queue, piece)) return;
  if (in_memory_ == 0) unsaved_since_ = now;
  in_memory_ += bytes;
  queue.in_memory.push_back(std::move(piece));
  if (in_memory_ > limits_.memory || now - unsaved_since_ > limits_.longest_in_memory)
    write_unsaved();
}

void Spool::write_unsaved() {
  for (auto& [target, queue] : queues_) {
    while (!queue.in_memory.empty()) {
      if (!append(queue, queue.in_memory.front())) {
        disk_failed_at_ = Clock::now();
        say(LogLevel::error, "spool",
            fmt::format("cannot write to {}: what waits for the server is held in memory",
                        folder_.string()));
        return;
      }
      in_memory_ -= queue.in_memory.front().packed.size();
      queue.in_memory.pop_front();
    }
  }
  disk_failed_at_.reset();
}

bool Spool::append(Queue& queue, const SpooledPiece& piece) {
  if (queue.files.empty() || queue.files.back().bytes >= kSegmentBytes)
    queue.files.push_back({.name = name_of_file(next_file_++)});
  Segment& segment = queue.files.back();
  const std::string bytes = bytes_of(piece);
  const PieceHead head{bytes.size(), XXH3_64bits(bytes.data(), bytes.size())};
  // Behind what is whole: a crash may have torn what follows it.
  std::ofstream file(folder_ / segment.name, segment.bytes == 0 ? std::ios::binary | std::ios::trunc
                                                                : std::ios::binary | std::ios::in);
  file.seekp(static_cast<std::streamoff>(segment.bytes));
  file.write(reinterpret_cast<const char*>(&head), sizeof head);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.flush();
  if (!file) {
    if (segment.bytes == 0) queue.files.pop_back();
    return false;
  }
  segment.bytes += sizeof head + bytes.size();
  on_disk_ += sizeof head + bytes.size();
  return true;
}

bool Spool::read_piece(Segment& segment, SpooledPiece& piece) const {
  std::ifstream file(folder_ / segment.name, std::ios::binary);
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

void Spool::delete_front(Queue& queue) {
  std::error_code ignored;
  fs::remove(folder_ / queue.files.front().name, ignored);
  on_disk_ -= std::min(on_disk_, queue.files.front().bytes);
  queue.files.pop_front();
}

template <class Use>
void Spool::take_while(Queue& queue, const Use& use) {
  while (!queue.files.empty()) {
    Segment& segment = queue.files.front();
    while (segment.read < segment.bytes) {
      const std::uint64_t at = segment.read;
      SpooledPiece piece;
      if (!read_piece(segment, piece)) {
        say(LogLevel::error, "spool", fmt::format("{} is damaged; its rest is lost", segment.name));
        break;
      }
      const std::uint64_t bytes = piece.packed.size();
      if (!use(std::move(piece))) {
        segment.read = at;
        return;
      }
      queue.bytes -= std::min(queue.bytes, bytes);
    }
    delete_front(queue);
  }
  while (!queue.in_memory.empty()) {
    const std::uint64_t bytes = queue.in_memory.front().packed.size();
    if (!use(SpooledPiece(queue.in_memory.front()))) return;
    queue.bytes -= std::min(queue.bytes, bytes);
    in_memory_ -= bytes;
    queue.in_memory.pop_front();
  }
}

std::optional<std::uint64_t> Spool::end_of(const LogTarget& target) const {
  const std::lock_guard lock(mutex_);
  const auto queue = queues_.find(target);
  if (queue == queues_.end() || queue->second.bytes == 0) return std::nullopt;
  return queue->second.end;
}

std::optional<Shipment> Spool::next() {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  const auto ready = [&](const auto& entry) {
    return entry.second.bytes > 0 && entry.second.held_until <= now;
  };
  auto chosen = queues_.end();
  if (turn_) chosen = std::find_if(queues_.upper_bound(*turn_), queues_.end(), ready);
  if (chosen == queues_.end()) chosen = std::ranges::find_if(queues_, ready);
  if (chosen == queues_.end()) return std::nullopt;
  turn_ = chosen->first;
  Shipment shipment{.target = chosen->first};
  const auto add = [&](const SpooledPiece& piece) {
    if (shipment.body.empty()) {
      shipment.from = piece.from;
      shipment.boot_time = piece.boot_time;
      shipment.reader = piece.reader;
    } else if (shipment.final || piece.from != shipment.to ||
               piece.boot_time != shipment.boot_time || piece.reader != shipment.reader ||
               piece.to - shipment.from > kMostOfABody || shipment.body.size() > kMostOfABody) {
      return false;
    }
    shipment.to = piece.to;
    shipment.final = piece.final;
    shipment.body += piece.packed;
    return true;
  };
  const Queue& queue = chosen->second;
  bool goes_on = true;
  for (Segment segment : queue.files) {
    SpooledPiece piece;
    while (goes_on && segment.read < segment.bytes && read_piece(segment, piece))
      goes_on = add(piece);
    if (!goes_on) break;
  }
  for (auto piece = queue.in_memory.begin(); goes_on && piece != queue.in_memory.end(); ++piece)
    goes_on = add(*piece);
  if (!shipment.body.empty()) return shipment;
  // Nothing of it can be read back.
  Queue& damaged = chosen->second;
  take_while(damaged, [](const SpooledPiece&) { return false; });
  if (damaged.files.empty() && damaged.in_memory.empty()) damaged.bytes = 0;
  return std::nullopt;
}

void Spool::done(const LogTarget& target, std::uint64_t to) {
  const std::lock_guard lock(mutex_);
  const auto queue = queues_.find(target);
  if (queue == queues_.end()) return;
  take_while(queue->second, [&](const SpooledPiece& piece) { return piece.to <= to; });
  queue->second.held_until = {};
  if (queue->second.bytes == 0) queues_.erase(queue);
}

void Spool::forget(Queue& queue) {
  take_while(queue, [](const SpooledPiece&) { return true; });
}

void Spool::drop(const LogTarget& target) {
  const std::lock_guard lock(mutex_);
  const auto queue = queues_.find(target);
  if (queue == queues_.end()) return;
  forget(queue->second);
  queues_.erase(queue);
}

std::uint64_t Spool::move(const LogTarget& target, const LogTarget& to, std::uint64_t from,
                          Blocks blocks) {
  const std::lock_guard lock(mutex_);
  Queue moved;
  moved.end = from;
  if (const auto queue = queues_.find(target); queue != queues_.end()) {
    take_while(queue->second, [&](SpooledPiece piece) {
      if (blocks == Blocks::forgotten && !piece.reader.empty()) return true;
      const std::uint64_t bytes = piece.to - piece.from;
      piece.target = to;
      piece.from = moved.end;
      piece.to = moved.end += bytes;
      put_into(moved, std::move(piece));
      return true;
    });
    queues_.erase(queue);
  }
  const std::uint64_t end = moved.end;
  if (moved.bytes > 0) queues_[to] = std::move(moved);
  changed_.notify_all();
  return end;
}

void Spool::hold(const LogTarget& target, Clock::time_point until) {
  const std::lock_guard lock(mutex_);
  queues_[target].held_until = until;
}

bool Spool::empty() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::all_of(queues_, [](const auto& entry) { return entry.second.bytes == 0; });
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
