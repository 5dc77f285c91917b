#include "store/room.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>

namespace faultline {

std::optional<std::uint64_t> Room::free_bytes() const {
  struct statvfs disk{};
  if (::statvfs(folder_.c_str(), &disk) != 0) return std::nullopt;
  return std::uint64_t{disk.f_bavail} * disk.f_frsize;
}

std::optional<std::string> Room::lack() const {
  const auto free = free_bytes();
  if (!free || *free >= least_) return std::nullopt;
  if (*free < kForTheLog)
    return fmt::format("{}: only {} MB are free on this disk; no logs are accepted below {} MB",
                       folder_.string(), *free >> 20U, std::min(least_.load(), kForTheLog) >> 20U);
  const std::uint64_t reusable = reusable_();
  if (*free + reusable >= least_) return std::nullopt;
  return fmt::format(
      "{}: only {} MB are free on this disk, and {} MB in the database file; no logs are accepted "
      "below {} MB",
      folder_.string(), *free >> 20U, reusable >> 20U, least_ >> 20U);
}

}  // namespace faultline
