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

  // Whether this is 2.MINOR.PATCH or later.
  constexpr bool since(int other_minor, int other_patch = 0) const {
    return minor > other_minor || (minor == other_minor && patch >= other_patch);
  }
};

// From 2.22 on, communicators connect when they are first used.
constexpr bool connects_lazily(const NcclVersion& version) { return version.since(22, 3); }

std::span<const NcclVersion> nccl_versions();

// The version of this name, else the closest known one below it; nullptr: not a version, or older
// than all known ones.
const NcclVersion* closest_version(std::string_view name);

}  // namespace faultline::simulation
