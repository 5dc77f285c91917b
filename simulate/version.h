// The NCCL versions whose lines the simulator knows.
#pragma once

#include <span>
#include <string_view>

namespace faultline::simulation {

struct NcclVersion {
  int minor = 0;  // of 2.x
  int patch = 0;
  std::string_view name;  // 2.21.5
  std::string_view cuda;  // 12.4
  int driver = 0;         // 12040

  // Of 2.MINOR.PATCH and later.
  constexpr bool since(int other_minor, int other_patch = 0) const {
    return minor > other_minor || (minor == other_minor && patch >= other_patch);
  }
};

// From 2.22 on, communicators connect when they are first used.
constexpr bool connects_lazily(const NcclVersion& version) { return version.since(22, 3); }

std::span<const NcclVersion> nccl_versions();

// The version of that name, else the closest known one below it; null: not a version, or older than
// all that are known.
const NcclVersion* closest_version(std::string_view name);

}  // namespace faultline::simulation
