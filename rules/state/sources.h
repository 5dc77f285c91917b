// The sources of a job, and what host a line belongs to when it does not say.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/batch.h"

namespace faultline {

// node7.cluster.local -> node7, as NCCL prints it. Addresses stay whole.
std::string short_host(std::string_view host);

// The known host that a path names: "gpu-node-3/dmesg.txt", "logs/dmesg-gpu-node-3.log". Else a
// folder whose name differs from a known host's in its numbers alone: a host of which nothing else
// is known. Empty if none.
std::string host_in_path(std::string_view path, const std::set<std::string>& hosts);

struct SourceState {
  Source source;
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
  std::uint64_t recognized = 0;
  std::map<std::string, std::uint64_t> dialects;
  std::map<std::string, std::uint64_t> subsystems;  // of NCCL: lines that no fact came of
  std::set<std::string> spoken_hosts;               // hosts that its lines name
  std::optional<std::int64_t> first_wall_us;  // of the lines that carry a date and say something
  std::optional<std::int64_t> last_wall_us;
  Timestamp last_received;
  SourceEnd end = SourceEnd::open;
};

class Sources {
 public:
  // Index of the source, which is added if it is new.
  std::uint32_t apply(const Source& source, const Batch& batch, Timestamp received);

  const std::vector<SourceState>& all() const { return all_; }
  const SourceState* find(std::string_view name) const;  // nullptr: there is none
  const SourceState& at(std::uint32_t index) const { return all_[index]; }

  // Every host that a line, a path's owner or a sender has named.
  const std::set<std::string>& hosts() const { return hosts_; }

  // Whose machine the lines of this source tell of when they name none: what the sender said; else
  // the one host its lines name; else a host known from elsewhere that its path names; else "".
  std::string host_of(std::uint32_t index) const;

 private:
  std::vector<SourceState> all_;
  std::map<std::string, std::uint32_t, std::less<>> by_name_;
  std::set<std::string> hosts_;
};

}  // namespace faultline
