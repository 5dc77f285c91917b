// The sources of a job, and the host of a line that names none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/batch.h"
#include "model/path_names.h"
#include "rules/state/remembered.h"

namespace faultline {

// node7.cluster.local -> node7, as NCCL prints it. Addresses are not cut.
std::string short_host(std::string_view host);

// How the host of a source's lines is known, the most reliable first.
enum class HostTold {
  by_sender,
  by_lines,           // the only host that its lines name
  by_path_and_lines,  // its path has a host that lines elsewhere in the job name
  by_path_alone,      // its folder or file looks like the name of a host; nothing confirms it
  nowhere,
};

struct NamedHost {
  std::string host;  // empty: not known
  HostTold told = HostTold::nowhere;
};

struct SourceState {
  Source source;
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
  std::uint64_t recognized = 0;
  std::map<std::string, std::uint64_t> dialects;
  std::map<std::string, std::uint64_t> subsystems;           // of NCCL: lines that gave no fact
  std::set<std::string> spoken_hosts;                        // hosts that its lines name
  std::set<std::pair<std::string, std::int64_t>> processes;  // the first few that printed it
  std::optional<std::int64_t> first_wall_us;                 // of dated lines that gave a fact
  std::optional<std::int64_t> last_wall_us;
  Timestamp first_received;
  Timestamp last_received;
  SourceEnd end = SourceEnd::open;
};

class Sources {
 public:
  // Returns the index of the source; a new source is added.
  std::uint32_t apply(const Source& source, const Batch& batch, Timestamp received);

  const std::vector<SourceState>& all() const { return all_; }
  const SourceState* find(std::string_view name) const;  // nullptr: there is none
  std::optional<std::uint32_t> index_of(std::string_view name) const;
  const SourceState& at(std::uint32_t index) const { return all_[index]; }

  // Every host that a line or a sender has named.
  const std::set<std::string>& hosts() const { return hosts_; }

  // The host of this source's lines that name none.
  NamedHost whose(std::uint32_t index) const;
  std::string host_of(std::uint32_t index) const { return whose(index).host; }

 private:
  std::vector<SourceState> all_;
  std::map<std::string, std::uint32_t, std::less<>> by_name_;
  void know(std::string host);
  NamedHost told_by_path(const SourceState& state) const;

  std::set<std::string> hosts_;
  HostNames host_names_;  // the same
  LikePaths kernel_logs_;
  mutable Remembered<std::uint32_t, NamedHost> told_by_paths_;  // a diagnosis asks for each line
};

}  // namespace faultline
