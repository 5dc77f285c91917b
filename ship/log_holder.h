// Which process writes a log, and what its environment says of its job and rank.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

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

// The labels of the processes that have the file open for writing. If they are of several jobs,
// none; if they are of several ranks, no rank. Null: no process, or none that may be looked at.
// `proc`: /proc.
std::optional<ProcessLabels> labels_of_holders(const FileId& file, const std::string& proc);

}  // namespace faultline
