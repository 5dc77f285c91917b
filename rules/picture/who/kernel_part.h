// Which part of which machine a kernel line is about, and whether the job runs on it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rules/picture/read/kernel_sightings.h"
#include "rules/picture/who/ended_processes.h"

namespace faultline {

struct KernelPart {
  // How the part belongs to the job.
  enum class Standing {
    of_the_job,  // a rank's process, its GPU, a NIC that it uses, its host
    perhaps,     // on a host of the job; it is not known whether the job needs it
    bystander,
  };

  std::string key;   // the same for all lines about one part
  std::string name;  // for titles: "GPU 0000:3b:00.0", "mlx5_2", "the device at 0000:65:00.0"
  std::string gpu;   // the address, if the part is a GPU
  Subject subject;
  Standing standing = Standing::perhaps;
  std::vector<Ground> doubts;    // about whether the part is the job's
  const LineRef* tie = nullptr;  // the line that ties it to its rank
};

KernelPart part_of(const View& view, const KernelDevices& devices, const EndedProcesses& ended,
                   const KernelSighting& sighting);

// The host with all of the job's ranks on it.
KernelPart whole_host(const View& view, const std::string& host);

}  // namespace faultline
