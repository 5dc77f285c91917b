#include "simulate/version.h"

#include <charconv>

namespace faultline::simulation {
namespace {

constexpr NcclVersion kVersions[] = {
    {7, 8, "2.7.8", "11.0", 11000},   {12, 12, "2.12.12", "11.6", 11060},
    {18, 3, "2.18.3", "12.2", 12020}, {21, 5, "2.21.5", "12.4", 12040},
    {23, 4, "2.23.4", "12.6", 12060}, {27, 7, "2.27.7", "12.8", 12080},
    {30, 7, "2.30.7", "13.0", 13000},
};

bool read_number(std::string_view& text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

std::span<const NcclVersion> nccl_versions() { return kVersions; }

const NcclVersion* closest_version(std::string_view name) {
  int minor = 0;
  int patch = 0;
  if (!name.starts_with("2.")) return nullptr;
  name.remove_prefix(2);
  if (!read_number(name, minor)) return nullptr;
  if (!name.empty()) {
    if (name.front() != '.') return nullptr;
    name.remove_prefix(1);
    if (!read_number(name, patch) || !name.empty()) return nullptr;
  }
  const NcclVersion wanted{minor, patch};
  const NcclVersion* closest = nullptr;
  for (const NcclVersion& version : kVersions)
    if (wanted.since(version.minor, version.patch)) closest = &version;
  return closest;
}

}  // namespace faultline::simulation
