#include "rules/picture/read/firmware_records.h"

#include <string_view>

namespace faultline {
namespace {

// Ids of the catalog's own signatures.
constexpr std::string_view kSeverity = "kernel.ghes.fatal";
constexpr std::string_view kSection = "kernel.ghes.section";
constexpr std::string_view kDevice = "kernel.ghes.device";
constexpr std::string_view kDimm = "kernel.ghes.dimm";
constexpr std::string_view kMild = "kernel.ghes.mild";

// "3" of {3}[Hardware Error]; empty: the line has no number.
std::string number_in(std::string_view line) {
  const std::size_t end = line.find("}[Hardware Error]");
  if (end == line.npos) return {};
  const std::size_t begin = line.rfind('{', end);
  return begin == line.npos ? std::string() : std::string(line.substr(begin + 1, end - begin - 1));
}

}  // namespace

FirmwareRecords::Key FirmwareRecords::key_of(const KernelSighting& sighting,
                                             const KernelSaying& saying) {
  return {sighting.log, sighting.text->boot, number_in(saying.line.text)};
}

FirmwareRecords::FirmwareRecords(const std::vector<KernelSighting>& sightings) {
  for (const KernelSighting& sighting : sightings) {
    const std::string& id = sighting.signature->id;
    std::set<Key>* told = id == kSeverity ? &severe_
                          : id == kMild   ? &mild_
                          : id == kDevice ? &with_device_
                                          : nullptr;
    if (id == kSection && sighting.field("section").starts_with("PCIe")) told = &of_pcie_;
    if (told == nullptr) continue;
    for (const KernelSaying& saying : sighting.text->sayings)
      told->insert(key_of(sighting, saying));
  }
}

bool FirmwareRecords::counts(const KernelSighting& sighting, const KernelSaying& saying) const {
  const std::string& id = sighting.signature->id;
  if (id != kSeverity && id != kDevice && id != kDimm) return true;
  const Key key = key_of(sighting, saying);
  if (id == kDimm) return std::get<std::string>(key).empty() || !mild_.contains(key);
  if (std::get<std::string>(key).empty()) return id == kSeverity;
  const bool of_a_device = of_pcie_.contains(key) && with_device_.contains(key);
  return id == kDevice ? of_pcie_.contains(key) && severe_.contains(key) : !of_a_device;
}

}  // namespace faultline
