#include "simulate/torch_version.h"

#include <charconv>
#include <optional>
#include <utility>

namespace faultline::simulation {
namespace {

constexpr TorchVersion kVersions[] = {
    {"1.13", 1, 13, "", 737},   {"2.1", 2, 1, "", 475},    {"2.2", 2, 2, "1.1", 523},
    {"2.3", 2, 3, "1.4", 563},  {"2.4", 2, 4, "2.0", 607}, {"2.5", 2, 5, "2.3", 616},
    {"2.6", 2, 6, "2.4", 632},  {"2.7", 2, 7, "2.5", 632}, {"2.8", 2, 8, "2.7", 692},
    {"2.9", 2, 9, "2.10", 697},
};

// 2.7, 2.7.1, 2.10
std::optional<std::pair<int, int>> numbers_of(std::string_view name) {
  std::pair<int, int> numbers;
  const char* const end = name.data() + name.size();
  const auto major = std::from_chars(name.data(), end, numbers.first);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, numbers.second);
  if (minor.ec != std::errc() || (minor.ptr != end && *minor.ptr != '.')) return std::nullopt;
  return numbers;
}

}  // namespace

bool TorchVersion::schema_since(int its_major, int its_minor) const {
  return numbers_of(schema) >= std::pair{its_major, its_minor};
}

std::span<const TorchVersion> torch_versions() { return kVersions; }

const TorchVersion* closest_torch(std::string_view name) {
  const auto wanted = numbers_of(name);
  const TorchVersion* closest = nullptr;
  for (const TorchVersion& version : kVersions)
    if (wanted >= std::pair{version.major, version.minor}) closest = &version;
  return wanted ? closest : nullptr;
}

}  // namespace faultline::simulation
