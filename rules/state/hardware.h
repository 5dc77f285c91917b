// Hardware: what the kernels of the job's hosts reported about their GPUs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/batch.h"
#include "rules/state/line_ref.h"

namespace faultline {

// All reports of one Xid code by one GPU, as far as one host or source tells them: a storm of a
// hundred thousand lines is one of these.
struct XidIncident {
  std::string spoken_host;  // named by the lines; empty: whose machine it is depends on the source
  std::uint32_t source = 0;
  std::string gpu;
  int code = 0;
  std::uint64_t count = 0;
  std::set<std::int64_t> pids;  // the first few
  LineRef first;
  LineRef last;
  std::uint64_t boot = 0;  // how often the source had shown a boot before it
};

class Hardware {
 public:
  void apply(std::uint32_t source, const Batch& batch, const Event& event);

  const std::vector<XidIncident>& xids() const { return xids_; }

  // How often the source showed the kernel starting.
  std::uint64_t boots(std::uint32_t source) const;

  // The GPU's UUID if a line told it; the host as in XidIncident.
  struct Gpu {
    std::string spoken_host;
    std::uint32_t source = 0;
    std::string gpu;
    std::string uuid;
    std::string serial;
  };
  const std::vector<Gpu>& gpus() const { return gpus_; }

 private:
  struct Key {
    std::string host;
    std::uint32_t source = 0;
    std::string gpu;
    int code = 0;
    std::uint64_t boot = 0;
    auto operator<=>(const Key&) const = default;
  };

  std::map<Key, std::size_t> known_;
  std::vector<XidIncident> xids_;
  std::map<std::uint32_t, std::uint64_t> boots_;
  std::vector<Gpu> gpus_;
};

}  // namespace faultline
