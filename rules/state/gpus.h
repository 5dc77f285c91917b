// The GPUs of a job's hosts, each joined from what all tools say about it and its NVLinks.
#pragma once

#include <string>
#include <vector>

#include "rules/state/job_state.h"

namespace faultline {

struct GpuPart {
  std::string host;
  std::string pci;  // 0000:3b:00.0; empty: not known
  std::string uuid;
  std::string index;  // as nvidia-smi counts
  std::string serial;
  std::vector<const PartRecord*> records;  // of the GPU and of its links
};

std::vector<GpuPart> gpus_of(const JobState& job);

}  // namespace faultline
