// The Xids of a job by where they were reported: no rule goes through all of them for each part.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rules/picture/read/gpus_by_time.h"
#include "rules/picture/when/phases.h"
#include "rules/state/hardware.h"

namespace faultline {

struct PlacedXid {
  const XidIncident* incident = nullptr;
  EventTime time;  // with the wall clock, if it can be worked out
};

class XidsByPlace {
 public:
  explicit XidsByPlace(const View& view);

  // What one boot of a host reported, in the order of its lines.
  struct OfBoot {
    std::vector<PlacedXid> lost;   // GPUs that fell off the bus; the time of the first report
    std::vector<PlacedXid> links;  // errors of NVLink; the time of the first report
    GpusByTime reset;              // GPUs that were reset; the time of the last report
  };
  const OfBoot& of(const BootOfLog& boot) const;

  // GPUs of a host that fell off the bus, from all of its logs.
  const std::vector<const XidIncident*>& lost_on(const std::string& host) const;

  bool names_gpu(const std::string& host, const std::string& gpu) const {
    return gpus_.contains({host, gpu});
  }

 private:
  std::map<BootOfLog, OfBoot> of_boot_;
  std::map<std::string, std::vector<const XidIncident*>> lost_on_;
  std::set<std::pair<std::string, std::string>> gpus_;  // by host
};

}  // namespace faultline
