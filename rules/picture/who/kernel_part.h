// Which part of which machine a kernel line is about, and whether the job runs on it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rules/picture/read/kernel_sightings.h"
#include "rules/picture/who/ended_processes.h"
#include "rules/picture/who/listed_nics.h"

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

class KernelParts {
 public:
  KernelParts(const View& view, const KernelSightings& sightings)
      : view_(view),
        devices_(sightings.devices),
        nics_(view, sightings.devices),
        ended_(view, sightings.all) {}

  KernelPart of(const KernelSighting& sighting);

 private:
  // The workers that may have the GPU at an address.
  struct GpuUsers {
    std::vector<std::size_t> workers;
    std::set<std::string> hosts;  // "": not known
  };
  const GpuUsers& users_of(const std::string& host, const std::string& address);
  std::optional<KernelPart> gpu(const KernelSighting& sighting, const std::string& address);
  KernelPart nic(const KernelSighting& sighting, const KernelDevices::Names& names);
  KernelPart device(const KernelSighting& sighting);
  KernelPart process(const KernelSighting& sighting) const;

  const View& view_;
  const KernelDevices& devices_;
  ListedNics nics_;
  EndedProcesses ended_;
  std::map<std::pair<std::string, std::string>, GpuUsers> gpu_users_;  // by host and address
  std::map<std::string, KernelPart> whole_hosts_;
};

// The host with all ranks that ran on it, as their lines or their sender say, or that may have. See
// View::ranks_at_large().
KernelPart whole_host(const View& view, const std::string& host);

}  // namespace faultline
