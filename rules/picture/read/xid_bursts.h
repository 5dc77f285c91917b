// What a GPU reported within minutes is one event that several lines tell of: here they are put
// together, and it is decided which of them the others follow from.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rules/knowledge/xid_details.h"
#include "rules/picture/view.h"

namespace faultline {

// Reports of one code, read with the catalog.
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
  std::vector<ReadXid> xids;    // as they came
  std::size_t root = SIZE_MAX;  // of xids; SIZE_MAX: they are all consequences
  EventTime since;              // what the root accounts for began then
  std::string recovery;         // what the driver asked for last: GPU Reset Required
  std::string recovery_action;
  const XidIncident* recovery_told = nullptr;

  bool has_root() const { return root < xids.size(); }
};

// By GPU and then in time, as far as it is known.
std::vector<GpuBurst> gpu_bursts(const View& view);

}  // namespace faultline
