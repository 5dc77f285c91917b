// Room: whether there is room for more, on the disk or in what was deleted from the database file.
// SQLite notices a full disk only in the middle of a write, when it needs another block; this is
// asked before the write.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace faultline {

class Room {
 public:
  // What has to stay free: enough for the log beside the database, for findings and for alerts.
  static constexpr std::uint64_t kLeast = std::uint64_t{128} << 20;

  // The log is written beside the file whatever is free in it.
  static constexpr std::uint64_t kForTheLog = std::uint64_t{64} << 20;

  // reusable: bytes of the file that new data takes before the file grows. It is asked only if the
  // disk has too little.
  Room(std::filesystem::path folder, std::function<std::uint64_t()> reusable,
       std::uint64_t least = kLeast)
      : folder_(std::move(folder)), reusable_(std::move(reusable)), least_(least) {}

  void set_least(std::uint64_t least) { least_ = least; }
  std::uint64_t least() const { return least_; }

  std::optional<std::uint64_t> free_bytes() const;

  // Says what is wrong if there is too little room; else nothing.
  std::optional<std::string> lack() const;

 private:
  const std::filesystem::path folder_;
  const std::function<std::uint64_t()> reusable_;
  std::atomic<std::uint64_t> least_;
};

}  // namespace faultline
