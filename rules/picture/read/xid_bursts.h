// The Xids that a GPU reports within minutes are one event. Here they are joined, and it is decided
// from which of them the others follow.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rules/knowledge/xid_details.h"
#include "rules/picture/view.h"

namespace faultline {

// The reports of one Xid code, as the catalog explains them.
struct ReadXid {
  const XidIncident* incident = nullptr;
  const XidMeaning* meaning = nullptr;
  XidReading reading;
  EventTime first;
  EventTime last;
  bool inferred = false;  // its own line is missing; another says "caused by previous Xid N"
};

struct GpuBurst {
  std::string host;  // empty: not known
  std::string gpu;
  std::vector<ReadXid> xids;    // in the order in which they came
  std::size_t root = SIZE_MAX;  // index into xids; SIZE_MAX: all are consequences
  EventTime since;              // when the event of the root began
  std::string recovery;         // the driver's last request: GPU Reset Required
  std::string recovery_action;
  const XidIncident* recovery_told = nullptr;

  bool has_root() const { return root < xids.size(); }
};

// By GPU, then by time as far as it is known.
std::vector<GpuBurst> gpu_bursts(const View& view);

}  // namespace faultline
