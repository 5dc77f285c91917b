// Error records that the firmware gives to the kernel: several lines, joined by the number in
// braces in front of them. Different lines say what kind of part failed and whether the error was
// corrected.
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

  // Whether this signature may judge the line. A fatal record of a PCIe device says something about
  // that device and not about memory; a corrected record says nothing.
  bool counts(const KernelSighting& sighting, const KernelSaying& saying) const;

 private:
  using Key = std::tuple<const KernelLog*, std::uint64_t, std::string>;  // log, boot, number
  static Key key_of(const KernelSighting& sighting, const KernelSaying& saying);

  std::set<Key> severe_;
  std::set<Key> mild_;
  std::set<Key> of_pcie_;
  std::set<Key> with_device_;
};

}  // namespace faultline
