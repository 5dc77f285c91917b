// Records of errors that the firmware tells the kernel of: several lines, joined by the number in
// braces in front of them. What kind of part failed, and whether it was corrected, stand in
// different lines.
//   {3}[Hardware Error]: event severity: fatal
//   {3}[Hardware Error]:   section_type: PCIe error
//   {3}[Hardware Error]:   device_id: 0000:3b:00.0
#pragma once

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "rules/picture/read/kernel_sightings.h"

namespace faultline {

class FirmwareRecords {
 public:
  explicit FirmwareRecords(const std::vector<KernelSighting>& sightings);

  // Whether the saying is for this signature to judge: a fatal record of a PCIe device is about
  // that device and not about memory, and one that was corrected is about nothing.
  bool counts(const KernelSighting& sighting, const KernelSaying& saying) const;

 private:
  using Key = std::tuple<const KernelLog*, std::uint64_t, std::string>;  // log, boot, number
  static Key key_of(const KernelSighting& sighting, const KernelSaying& saying);

  std::set<Key> severe_;
  std::set<Key> of_pcie_;
  std::set<Key> with_device_;
};

}  // namespace faultline
