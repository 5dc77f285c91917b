// The versions of PyTorch whose lines the simulator knows.
#pragma once

#include <chrono>
#include <span>
#include <string_view>

namespace faultline::simulation {

struct TorchVersion {
  std::string_view name;
  int major = 2;
  int minor = 0;
  std::string_view schema;  // of Flight Recorder dumps; empty: it writes none
  int caught_line = 0;      // of ProcessGroupNCCL.cpp, which reports a time-out

  bool since(int its_major, int its_minor) const {
    return major > its_major || (major == its_major && minor >= its_minor);
  }
  // The same for the schema.
  bool schema_since(int its_major, int its_minor) const;
  // The default time-out of a collective.
  std::chrono::seconds timeout() const { return std::chrono::seconds{since(2, 2) ? 600 : 1'800}; }
};

std::span<const TorchVersion> torch_versions();
// The newest known version up to `name`; nullptr: there is none.
const TorchVersion* closest_torch(std::string_view name);

}  // namespace faultline::simulation
