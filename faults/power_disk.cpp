#include "faults/power_disk.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace faultline::faults {
namespace {

// What a disk writes as a whole or not at all.
constexpr std::size_t kSector = 512;

// How a cut treats the unsynced changes of one file.
enum class Mood { all_lost, only_last_torn, each_by_chance };

}  // namespace

void PowerDisk::apply(const DeedHeader& header, std::string_view content, std::uint64_t end) {
  switch (header.deed) {
    case Deed::create:
      files_[header.file] = {};
      unsynced_entries_.push_back(
          {.deed = Deed::create, .file = header.file, .name = std::string(content), .end = end});
      return;
    case Deed::write:
      files_[header.file].unsynced.push_back(
          {.offset = header.offset, .bytes = std::string(content), .end = end});
      return;
    case Deed::truncate:
      files_[header.file].unsynced.push_back(
          {.truncates = true, .offset = header.offset, .end = end});
      return;
    case Deed::remove:
      unsynced_entries_.push_back({.deed = Deed::remove, .name = std::string(content), .end = end});
      return;
    case Deed::rename:
      unsynced_entries_.push_back({.deed = Deed::rename,
                                   .name = std::string(content.substr(0, header.offset)),
                                   .new_name = std::string(content.substr(header.offset)),
                                   .end = end});
      return;
    case Deed::sync:
      return sync_file(files_[header.file], header.offset);
    case Deed::sync_folder:
      return sync_entries(header.offset);
  }
}

bool PowerDisk::has_unsynced() const {
  return !unsynced_entries_.empty() || std::ranges::any_of(files_, [](const auto& file) {
    return !file.second.unsynced.empty();
  });
}

void PowerDisk::sync_file(File& file, std::uint64_t began) {
  const auto rest =
      std::ranges::find_if(file.unsynced, [&](const Change& change) { return change.end > began; });
  for (auto it = file.unsynced.begin(); it != rest; ++it) change(file.durable, *it);
  file.unsynced.erase(file.unsynced.begin(), rest);
}

void PowerDisk::sync_entries(std::uint64_t began) {
  const auto rest = std::ranges::find_if(
      unsynced_entries_, [&](const EntryChange& change) { return change.end > began; });
  for (auto it = unsynced_entries_.begin(); it != rest; ++it) change(entries_, *it);
  unsynced_entries_.erase(unsynced_entries_.begin(), rest);
}

void PowerDisk::change(std::string& content, const Change& change) {
  if (change.truncates) return content.resize(change.offset, '\0');
  if (content.size() < change.offset + change.bytes.size())
    content.resize(change.offset + change.bytes.size(), '\0');
  std::memcpy(content.data() + change.offset, change.bytes.data(), change.bytes.size());
}

void PowerDisk::change(Entries& entries, const EntryChange& change) {
  if (change.deed == Deed::create) {
    entries[change.name] = change.file;
    return;
  }
  const auto found = entries.find(change.name);
  if (found == entries.end()) return;
  const std::uint32_t file = found->second;
  entries.erase(found);
  if (change.deed == Deed::rename) entries[change.new_name] = file;
}

std::string PowerDisk::left_of(const File& file, Random& random) {
  std::string content = file.durable;
  const Mood mood = random.one_of(
      std::array{Mood::all_lost, Mood::only_last_torn, Mood::each_by_chance, Mood::each_by_chance});
  if (mood == Mood::all_lost) return content;
  for (const Change& done : file.unsynced) {
    const bool tears =
        mood == Mood::only_last_torn ? &done == &file.unsynced.back() : random.one_in(2);
    if (!tears) {
      change(content, done);
      continue;
    }
    if (done.truncates) continue;
    // Tears at the disk's sectors, wherever the write begins.
    for (std::size_t at = 0; at < done.bytes.size();) {
      const std::size_t size =
          std::min(kSector - (done.offset + at) % kSector, done.bytes.size() - at);
      if (random.one_in(2))
        change(content, {.offset = done.offset + at, .bytes = done.bytes.substr(at, size)});
      at += size;
    }
  }
  return content;
}

void PowerDisk::leave_behind(const std::filesystem::path& folder, Random& random) const {
  Entries entries = entries_;
  const std::uint64_t kept = random.between(0, unsynced_entries_.size());
  for (std::uint64_t i = 0; i < kept; ++i) change(entries, unsynced_entries_[i]);
  for (const auto& [name, number] : entries) {
    const std::string content = left_of(files_.at(number), random);
    std::ofstream(folder / name, std::ios::binary)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
  }
}

JournalReader::JournalReader(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  bytes_ = std::move(text).str();
}

bool JournalReader::apply_next(PowerDisk& disk) {
  DeedHeader header;
  if (bytes_.size() - at_ < sizeof header) return false;
  std::memcpy(&header, bytes_.data() + at_, sizeof header);
  const std::size_t content = at_ + sizeof header;
  if (bytes_.size() - content < header.size) return false;  // incomplete: its writer was killed
  at_ = content + header.size;
  disk.apply(header, std::string_view(bytes_).substr(content, header.size), at_);
  return true;
}

}  // namespace faultline::faults
