// Room: whether the disk has room for more. SQLite notices a full disk only in the middle of a
// write, when it needs another block; this is asked before the write.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace faultline {

class Room {
 public:
  // What has to stay free: enough for the log beside the database, for findings and for alerts.
  static constexpr std::uint64_t kLeast = std::uint64_t{128} << 20;

  explicit Room(std::filesystem::path folder, std::uint64_t least = kLeast)
      : folder_(std::move(folder)), least_(least) {}

  void set_least(std::uint64_t least) { least_ = least; }

  std::optional<std::uint64_t> free_bytes() const;

  // Says what is wrong if there is too little room; else nothing.
  std::optional<std::string> lack() const;

 private:
  const std::filesystem::path folder_;
  std::atomic<std::uint64_t> least_;
};

}  // namespace faultline
