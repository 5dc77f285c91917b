// Which process writes a log, and what its environment says of its job and rank.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ship/part_mark.h"

namespace faultline {

// What the environment of a process says.
struct ProcessLabels {
  std::string job;
  int rank = -1;
  bool operator==(const ProcessLabels&) const = default;
};

// The value of a variable of the environment; empty: there is none.
using Environment = std::function<std::string(const std::string& name)>;
ProcessLabels labels_of(const Environment& environment);
// Of this process.
std::string own_environment(const std::string& name);

// Which processes have which files open for writing, as one look at all of them tells.
class LogHolders {
 public:
  // `proc`: /proc.
  explicit LogHolders(const std::string& proc);

  // If the holders of a file are of several jobs, no job; if they are of several ranks, no rank.
  // Null: no process holds it, or none that may be looked at.
  std::optional<ProcessLabels> of(const FileId& file) const;

 private:
  void look_at(const std::string& process);

  std::map<std::pair<std::uint64_t, std::uint64_t>, ProcessLabels> labels_;
};

}  // namespace faultline
